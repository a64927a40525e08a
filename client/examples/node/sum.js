// Sums an array on a gridfold server, as HOST:PORT says, or on this machine.
//
// GRIDFOLD_PROTO is the folder of the protocol files: `proto` of a copy of the tree, or
// share/gridfold/proto of an installed one.
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const definition = loader.loadSync('gridfold/v1/compute_service.proto', {
  includeDirs: [process.env.GRIDFOLD_PROTO || 'proto'],
  keepCase: true, enums: String, longs: String, defaults: true, oneofs: true,
});
const { ComputeService } = grpc.loadPackageDefinition(definition).gridfold.v1;

// Answers larger than 4 MiB are refused unless a client allows them.
const client = new ComputeService(process.argv[2] || 'localhost:50051',
  grpc.credentials.createInsecure(), { 'grpc.max_receive_message_length': 256 << 20 });

const data = Buffer.alloc(4 * 4); // Little-endian, whatever this machine is.
[1, 2.5, -0.5, 4].forEach((value, i) => data.writeFloatLE(value, 4 * i));
const request = {
  array: { inline_array: { element_type: 'ELEMENT_TYPE_FLOAT32', data } },
  statistics: ['STATISTIC_SUM', 'STATISTIC_MAX'],
};
client.ReduceArray(request, (error, answer) => {
  if (error) {
    console.error(error.message); // Names the field at fault.
    process.exit(1);
  }
  for (const { statistic, values } of answer.results) {
    console.log(statistic, values.double_values.values[0]);
  }
});
