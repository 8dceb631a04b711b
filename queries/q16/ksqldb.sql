-- q16, channel statistics report: for each channel and day the numbers of q15, and the last minute seen.

CREATE STREAM ${run}q16_src WITH (KAFKA_TOPIC='${run}q16_src', VALUE_FORMAT='JSON') AS
SELECT
  auction,
  bidder,
  price,
  channel + '|' + FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS cd,
  FORMAT_TIMESTAMP(date_time, 'HH:mm', 'UTC') AS hm,
  CASE WHEN price < 10000 THEN 1 ELSE 0 END AS r1,
  CASE WHEN price >= 10000 AND price < 1000000 THEN 1 ELSE 0 END AS r2,
  CASE WHEN price >= 1000000 THEN 1 ELSE 0 END AS r3
FROM ${run}bid
EMIT CHANGES;

CREATE TABLE ${run}q16_bids WITH (KAFKA_TOPIC='${run}q16_bids', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT cd, MAX(hm) AS mi, COUNT(*) AS total_bids, SUM(r1) AS rank1_bids, SUM(r2) AS rank2_bids, SUM(r3) AS rank3_bids
FROM ${run}q16_src
GROUP BY cd
EMIT CHANGES;

CREATE TABLE ${run}q16_bd WITH (KAFKA_TOPIC='${run}q16_bd', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT cd, bidder, MAX(r1) AS r1, MAX(r2) AS r2, MAX(r3) AS r3
FROM ${run}q16_src
GROUP BY cd, bidder
EMIT CHANGES;

CREATE TABLE ${run}q16_bidders WITH (KAFKA_TOPIC='${run}q16_bidders', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT cd, COUNT(*) AS total_bidders, SUM(r1) AS rank1_bidders, SUM(r2) AS rank2_bidders, SUM(r3) AS rank3_bidders
FROM ${run}q16_bd
GROUP BY cd
EMIT CHANGES;

CREATE TABLE ${run}q16_au WITH (KAFKA_TOPIC='${run}q16_au', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT cd, auction, MAX(r1) AS r1, MAX(r2) AS r2, MAX(r3) AS r3
FROM ${run}q16_src
GROUP BY cd, auction
EMIT CHANGES;

CREATE TABLE ${run}q16_auctions WITH (KAFKA_TOPIC='${run}q16_auctions', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT cd, COUNT(*) AS total_auctions, SUM(r1) AS rank1_auctions, SUM(r2) AS rank2_auctions, SUM(r3) AS rank3_auctions
FROM ${run}q16_au
GROUP BY cd
EMIT CHANGES;

CREATE TABLE ${run}q16 WITH (KAFKA_TOPIC='${run}q16', VALUE_FORMAT='JSON') AS
SELECT b.cd AS cd, b.mi AS mi, b.total_bids AS total_bids, b.rank1_bids AS rank1_bids, b.rank2_bids AS rank2_bids,
  b.rank3_bids AS rank3_bids, p.total_bidders AS total_bidders, p.rank1_bidders AS rank1_bidders,
  p.rank2_bidders AS rank2_bidders, p.rank3_bidders AS rank3_bidders, a.total_auctions AS total_auctions,
  a.rank1_auctions AS rank1_auctions, a.rank2_auctions AS rank2_auctions, a.rank3_auctions AS rank3_auctions
FROM ${run}q16_bids b
JOIN ${run}q16_bidders p ON b.cd = p.cd
JOIN ${run}q16_auctions a ON b.cd = a.cd
EMIT CHANGES;
