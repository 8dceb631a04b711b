-- q23, three-way join: bids with their bidder and every auction that this bidder sells. The state of the joins only grows.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  bid_dateTime TIMESTAMP(3),
  bid_extra STRING,
  name STRING,
  emailAddress STRING,
  creditCard STRING,
  city STRING,
  state STRING,
  person_extra STRING,
  auction_id BIGINT,
  itemName STRING,
  description STRING,
  initialBid BIGINT,
  reserve BIGINT,
  auction_dateTime TIMESTAMP(3),
  expires TIMESTAMP(3),
  category BIGINT,
  auction_extra STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  B.auction, B.bidder, B.price, B.channel, B.url, B.`dateTime`, B.extra,
  P.name, P.emailAddress, P.creditCard, P.city, P.state, P.extra,
  A.id, A.itemName, A.description, A.initialBid, A.reserve, A.`dateTime`, A.expires, A.category, A.extra
FROM bid AS B
JOIN person AS P ON P.id = B.bidder
JOIN auction AS A ON A.seller = B.bidder;
