// Sums an array on a gridfold server, as HOST:PORT says, or on this machine.
import com.google.protobuf.ByteString;
import com.gridfold.v1.ArraySource;
import com.gridfold.v1.ComputeServiceGrpc;
import com.gridfold.v1.ElementType;
import com.gridfold.v1.InlineArray;
import com.gridfold.v1.ReduceArrayRequest;
import com.gridfold.v1.ReduceArrayResponse;
import com.gridfold.v1.Statistic;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

public class Sum {
  public static void main(String[] arguments) {
    String target = arguments.length > 0 ? arguments[0] : "localhost:50051";
    // Answers larger than 4 MiB are refused unless a client allows them.
    ManagedChannel channel = ManagedChannelBuilder.forTarget(target).usePlaintext()
        .maxInboundMessageSize(256 << 20).build();

    ByteBuffer elements = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : new float[] {1, 2.5f, -0.5f, 4}) elements.putFloat(value);
    elements.flip();
    InlineArray array = InlineArray.newBuilder().setElementType(ElementType.ELEMENT_TYPE_FLOAT32)
        .setData(ByteString.copyFrom(elements)).build();
    ReduceArrayResponse answer = ComputeServiceGrpc.newBlockingStub(channel).reduceArray(
        ReduceArrayRequest.newBuilder()
            .setArray(ArraySource.newBuilder().setInlineArray(array))
            .addStatistics(Statistic.STATISTIC_SUM)
            .addStatistics(Statistic.STATISTIC_MAX).build());
    answer.getResultsList().forEach(result -> System.out.println(
        result.getStatistic() + " " + result.getValues().getDoubleValues().getValues(0)));
    channel.shutdownNow();
  }
}
