-- q15, bidding statistics report: for each day the numbers of bids, of bidders and of auctions, in all and in three
-- ranks of price.

CREATE TABLE ${run}q15_bids WITH (KAFKA_TOPIC='${run}q15_bids', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT
  FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS dy,
  COUNT(*) AS total_bids,
  SUM(CASE WHEN price < 10000 THEN 1 ELSE 0 END) AS rank1_bids,
  SUM(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 ELSE 0 END) AS rank2_bids,
  SUM(CASE WHEN price >= 1000000 THEN 1 ELSE 0 END) AS rank3_bids
FROM ${run}bid
GROUP BY FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC')
EMIT CHANGES;

CREATE TABLE ${run}q15_bd WITH (KAFKA_TOPIC='${run}q15_bd', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT
  FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS dy,
  bidder,
  MAX(CASE WHEN price < 10000 THEN 1 ELSE 0 END) AS r1,
  MAX(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 ELSE 0 END) AS r2,
  MAX(CASE WHEN price >= 1000000 THEN 1 ELSE 0 END) AS r3
FROM ${run}bid
GROUP BY FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC'), bidder
EMIT CHANGES;

CREATE TABLE ${run}q15_bidders WITH (KAFKA_TOPIC='${run}q15_bidders', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT dy, COUNT(*) AS total_bidders, SUM(r1) AS rank1_bidders, SUM(r2) AS rank2_bidders, SUM(r3) AS rank3_bidders
FROM ${run}q15_bd
GROUP BY dy
EMIT CHANGES;

CREATE TABLE ${run}q15_au WITH (KAFKA_TOPIC='${run}q15_au', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT
  FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS dy,
  auction,
  MAX(CASE WHEN price < 10000 THEN 1 ELSE 0 END) AS r1,
  MAX(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 ELSE 0 END) AS r2,
  MAX(CASE WHEN price >= 1000000 THEN 1 ELSE 0 END) AS r3
FROM ${run}bid
GROUP BY FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC'), auction
EMIT CHANGES;

CREATE TABLE ${run}q15_auctions WITH (KAFKA_TOPIC='${run}q15_auctions', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT dy, COUNT(*) AS total_auctions, SUM(r1) AS rank1_auctions, SUM(r2) AS rank2_auctions, SUM(r3) AS rank3_auctions
FROM ${run}q15_au
GROUP BY dy
EMIT CHANGES;

CREATE TABLE ${run}q15 WITH (KAFKA_TOPIC='${run}q15', VALUE_FORMAT='JSON') AS
SELECT b.dy AS dy, b.total_bids, b.rank1_bids, b.rank2_bids, b.rank3_bids, p.total_bidders, p.rank1_bidders,
  p.rank2_bidders, p.rank3_bidders, a.total_auctions, a.rank1_auctions, a.rank2_auctions, a.rank3_auctions
FROM ${run}q15_bids b
JOIN ${run}q15_bidders p ON b.dy = p.dy
JOIN ${run}q15_auctions a ON b.dy = a.dy
EMIT CHANGES;
