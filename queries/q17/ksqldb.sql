-- q17, auction statistics report: for each auction and day the numbers of bids in three ranks of price, and minimum,
-- maximum, average and sum of the price.

CREATE TABLE ${run}q17 WITH (KAFKA_TOPIC='${run}q17', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT
  auction,
  FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC') AS dy,
  COUNT(*) AS total_bids,
  SUM(CASE WHEN price < 10000 THEN 1 ELSE 0 END) AS rank1_bids,
  SUM(CASE WHEN price >= 10000 AND price < 1000000 THEN 1 ELSE 0 END) AS rank2_bids,
  SUM(CASE WHEN price >= 1000000 THEN 1 ELSE 0 END) AS rank3_bids,
  MIN(price) AS min_price,
  MAX(price) AS max_price,
  AVG(price) AS avg_price,
  SUM(price) AS sum_price
FROM ${run}bid
GROUP BY auction, FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd', 'UTC')
EMIT CHANGES;
