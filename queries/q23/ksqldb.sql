-- q23, three-way join: bids with their bidder and every auction that this bidder sells.

CREATE STREAM ${run}q23 WITH (KAFKA_TOPIC='${run}q23', VALUE_FORMAT='JSON') AS
SELECT b.bidder AS bidder, b.auction AS auction, b.price, b.channel, b.url, b.date_time AS bid_date_time,
  b.extra AS bid_extra, p.id AS person_id, p.name, p.email_address, p.credit_card, p.city, p.state,
  p.extra AS person_extra, a.id AS auction_id, a.item_name, a.description, a.initial_bid, a.reserve,
  a.date_time AS auction_date_time, a.expires, a.seller, a.category, a.extra AS auction_extra
FROM ${run}bid b
JOIN ${run}person p WITHIN (1 DAY, 1 DAY) GRACE PERIOD 1 DAY ON b.bidder = p.id
JOIN ${run}auction a WITHIN (1 DAY, 1 DAY) GRACE PERIOD 1 DAY ON b.bidder = a.seller
EMIT CHANGES;
