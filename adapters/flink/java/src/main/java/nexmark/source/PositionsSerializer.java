package nexmark.source;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Splits as bytes: how many, then each of them. */
final class PositionsSerializer implements SimpleVersionedSerializer<List<PositionsSplit>> {
    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(List<PositionsSplit> splits) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(splits.size());
        for (PositionsSplit split : splits) {
            split.write(out);
        }
        return bytes.toByteArray();
    }

    @Override
    public List<PositionsSplit> deserialize(int version, byte[] bytes) throws IOException {
        if (version != VERSION) {
            throw new IOException("cannot read splits of version " + version + ", only of version " + VERSION);
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int count = in.readInt();
        List<PositionsSplit> splits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            splits.add(PositionsSplit.read(in));
        }
        return splits;
    }

    /** The serializer of one split. */
    SimpleVersionedSerializer<PositionsSplit> ofOne() {
        return new SimpleVersionedSerializer<>() {
            @Override
            public int getVersion() {
                return VERSION;
            }

            @Override
            public byte[] serialize(PositionsSplit split) throws IOException {
                return PositionsSerializer.this.serialize(List.of(split));
            }

            @Override
            public PositionsSplit deserialize(int version, byte[] bytes) throws IOException {
                return PositionsSerializer.this.deserialize(version, bytes).get(0);
            }
        };
    }
}
