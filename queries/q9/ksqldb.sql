-- q9, winning bids: for each auction its highest valid bid, the earliest of those at that price.

CREATE TABLE ${run}q9 WITH (KAFKA_TOPIC='${run}q9', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT a.id AS id, EARLIEST_BY_OFFSET(a.item_name) AS item_name, EARLIEST_BY_OFFSET(a.description) AS description,
  EARLIEST_BY_OFFSET(a.initial_bid) AS initial_bid, EARLIEST_BY_OFFSET(a.reserve) AS reserve,
  EARLIEST_BY_OFFSET(a.date_time) AS date_time, EARLIEST_BY_OFFSET(a.expires) AS expires,
  EARLIEST_BY_OFFSET(a.seller) AS seller, EARLIEST_BY_OFFSET(a.category) AS category,
  EARLIEST_BY_OFFSET(a.extra) AS extra, TOPK(b.price, b.bidder, b.date_time, b.extra, 1) AS win
FROM ${run}auction a
JOIN ${run}bid b WITHIN (0 SECONDS, 1 DAY) GRACE PERIOD 1 DAY ON a.id = b.auction
WHERE b.date_time BETWEEN a.date_time AND a.expires
GROUP BY a.id
EMIT CHANGES;
