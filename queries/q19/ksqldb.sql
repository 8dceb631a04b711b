-- q19, auction top 10 price: for each auction its ten highest bids, ranked.

CREATE TABLE ${run}q19 WITH (KAFKA_TOPIC='${run}q19', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT auction, TOPK(price, bidder, channel, url, date_time, extra, 10) AS top10
FROM ${run}bid
GROUP BY auction
EMIT CHANGES;
