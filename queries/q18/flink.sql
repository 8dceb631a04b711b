-- q18, find last bid: for each bidder and auction the latest bid, with all its columns. Which of two bids at the same time is
-- the latest is open, so that three columns make the answer.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  `dateTime` TIMESTAMP(3),
  extra STRING
) WITH (
  'connector' = 'nexmark-sink',
  'columns' = 'auction;bidder;dateTime'
);

INSERT INTO answer
SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS place
  FROM bid
)
WHERE place <= 1;
