package nexmark.job;

/** An auction that is over, with the price of its winning bid. A class as Flink's serializers want it. */
public final class Winner {
    public long seller;
    public long auction;
    /** End of the auction, epoch ms. */
    public long expires;
    public long price;

    public Winner() {}

    Winner(long seller, long auction, long expires, long price) {
        this.seller = seller;
        this.auction = auction;
        this.expires = expires;
        this.price = price;
    }
}
