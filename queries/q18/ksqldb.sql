-- q18, find last bid: for each bidder and auction the latest bid.

CREATE TABLE ${run}q18 WITH (KAFKA_TOPIC='${run}q18', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT bidder, auction, LATEST_BY_OFFSET(price) AS price, LATEST_BY_OFFSET(channel) AS channel,
  LATEST_BY_OFFSET(url) AS url, LATEST_BY_OFFSET(date_time) AS date_time, LATEST_BY_OFFSET(extra) AS extra
FROM ${run}bid
GROUP BY bidder, auction
EMIT CHANGES;
