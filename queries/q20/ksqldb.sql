-- q20, expand bid with auction: bids on auctions of category 10, with all columns of both, however far apart the two
-- arrive.

CREATE STREAM ${run}q20 WITH (KAFKA_TOPIC='${run}q20', VALUE_FORMAT='JSON') AS
SELECT b.auction AS auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time, b.extra AS bid_extra,
  a.item_name, a.description, a.initial_bid, a.reserve, a.date_time AS auction_date_time, a.expires, a.seller,
  a.category, a.extra AS auction_extra
FROM ${run}bid b
JOIN ${run}auction a WITHIN (1 DAY, 1 DAY) GRACE PERIOD 1 DAY ON b.auction = a.id
WHERE a.category = 10
EMIT CHANGES;
