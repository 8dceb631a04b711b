-- q14, calculation: bids whose converted price lies between one and fifty millions, with the time of day as words and the
-- number of c in their text.

CREATE TEMPORARY FUNCTION count_char AS 'nexmark.functions.CountChar';

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price DECIMAL(23, 3),
  bidTimeType STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  c_counts BIGINT
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  auction,
  bidder,
  0.908 * price,
  CASE
    WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
    WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END,
  `dateTime`,
  extra,
  count_char(extra, 'c')
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
