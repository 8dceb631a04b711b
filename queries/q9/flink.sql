-- q9, winning bids: for each auction its valid bid with the highest price, the earliest of those at that price. All columns
-- of auction and bid are emitted; which of two bids at the same price and time wins is open, so that three columns make the
-- answer.
--
-- It needs table.exec.mini-batch.enabled = true on Flink 2.3: without it the planner takes a first row by two columns for one
-- that never changes, and leaves retractions out (FLINK-40368).

CREATE TABLE answer (
  id BIGINT,
  itemName STRING,
  description STRING,
  initialBid BIGINT,
  reserve BIGINT,
  `dateTime` TIMESTAMP(3),
  expires TIMESTAMP(3),
  seller BIGINT,
  category BIGINT,
  extra STRING,
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  bid_dateTime TIMESTAMP(3),
  bid_extra STRING
) WITH (
  'connector' = 'nexmark-sink',
  'columns' = 'id;price;bid_dateTime'
);

INSERT INTO answer
SELECT
  id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
  auction, bidder, price, channel, url, bid_dateTime, bid_extra
FROM (
  SELECT
    A.id, A.itemName, A.description, A.initialBid, A.reserve, A.`dateTime`, A.expires, A.seller, A.category, A.extra,
    B.auction, B.bidder, B.price, B.channel, B.url, B.`dateTime` AS bid_dateTime, B.extra AS bid_extra,
    ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS place
  FROM auction AS A
  JOIN bid AS B ON A.id = B.auction
  WHERE B.`dateTime` BETWEEN A.`dateTime` AND A.expires
)
WHERE place <= 1;
