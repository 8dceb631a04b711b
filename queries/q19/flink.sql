-- q19, auction top 10 price: for each auction its ten highest bids, ranked, with all their columns. Which of two bids at the
-- same price comes first is open, so that three columns make the answer.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  rank_number BIGINT
) WITH (
  'connector' = 'nexmark-sink',
  'columns' = 'auction;price;rank_number'
);

INSERT INTO answer
SELECT auction, bidder, price, channel, url, `dateTime`, extra, rank_number
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
  FROM bid
)
WHERE rank_number <= 10;
