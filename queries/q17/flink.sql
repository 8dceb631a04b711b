-- q17, auction statistics report: for each auction and day the numbers of bids in three ranks of price, and minimum, maximum,
-- truncated average and sum of the price.

CREATE TABLE answer (
  auction BIGINT,
  `day` STRING,
  total_bids BIGINT,
  rank1_bids BIGINT,
  rank2_bids BIGINT,
  rank3_bids BIGINT,
  min_price BIGINT,
  max_price BIGINT,
  avg_price BIGINT,
  sum_price BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  auction,
  DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS `day`,
  COUNT(*),
  COUNT(*) FILTER (WHERE price < 10000),
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000),
  COUNT(*) FILTER (WHERE price >= 1000000),
  MIN(price),
  MAX(price),
  AVG(price),
  SUM(price)
FROM bid
GROUP BY auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd');
