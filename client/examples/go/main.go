// Sums an array on a gridfold server, as HOST:PORT says, or on this machine.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"google.golang.org/grpc"

	pb "github.com/gridfold/gridfold/gen/go/gridfold/v1"
)

func main() {
	target := "localhost:50051"
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	// Answers larger than 4 MiB are refused unless a client allows them.
	connection, err := grpc.Dial(target, grpc.WithInsecure(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(256<<20)))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()

	var elements bytes.Buffer // Little-endian, whatever this machine is.
	binary.Write(&elements, binary.LittleEndian, []float32{1, 2.5, -0.5, 4})
	array := &pb.InlineArray{ElementType: pb.ElementType_ELEMENT_TYPE_FLOAT32, Data: elements.Bytes()}
	answer, err := pb.NewComputeServiceClient(connection).ReduceArray(context.Background(),
		&pb.ReduceArrayRequest{
			Array:      &pb.ArraySource{Source: &pb.ArraySource_InlineArray{InlineArray: array}},
			Statistics: []pb.Statistic{pb.Statistic_STATISTIC_SUM, pb.Statistic_STATISTIC_MAX},
		})
	if err != nil {
		log.Fatal(err) // Names the field at fault.
	}
	for _, result := range answer.Results {
		fmt.Println(result.Statistic, result.Values.GetDoubleValues().Values[0])
	}
}
