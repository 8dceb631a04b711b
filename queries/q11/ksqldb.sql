-- q11, user sessions: for each bidder the sessions of activity: bids at most 10 s apart, with their number.

CREATE TABLE ${run}q11 WITH (KAFKA_TOPIC='${run}q11', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') AS
SELECT bidder, COUNT(*) AS bid_count, WINDOWSTART AS starttime, WINDOWEND AS endtime
FROM ${run}bid
WINDOW SESSION (10 SECONDS, RETENTION 1 DAY, GRACE PERIOD ${grace})
GROUP BY bidder
EMIT FINAL;
