"""Examples of the wire API: a call of each method, asked of a server, whose answers stand below the
questions in the reference.

The calls run one after the other, so that some use what others made.
"""
import contextlib
import os
import pathlib
import subprocess
import tempfile
import time
from multiprocessing import shared_memory
from typing import Iterator

import grpc
from google.protobuf import descriptor_pool, message_factory, text_format

SECONDS_MAX = 20
SIX_BYTES = r'inline_array { element_type: ELEMENT_TYPE_INT8 shape: 2 shape: 3 data: "\001\002\003\004\005\006" }'

# Method and requests in text form; {…} stands for what an earlier answer has.
CALLS = [
    ('ServerService/GetServerInfo', ['']),
    ('ComputeService/ReduceArray', [f'''array {{ {SIX_BYTES} }}
statistics: STATISTIC_SUM statistics: STATISTIC_MEAN
grouping {{ axes {{ axes: -1 }} }}
return_accumulator: true''']),
    ('ComputeService/ScanArray', [f'''array {{ {SIX_BYTES} }}
operation: SCAN_OPERATION_SUM mode: SCAN_MODE_INCLUSIVE direction: SCAN_DIRECTION_FORWARD
output_type: ELEMENT_TYPE_INT8''']),
    ('ComputeService/ComputeHistogram', [f'''array {{ {SIX_BYTES} }}
bins {{ even {{ bin_count: 3 lower_bound: 0 upper_bound: 6 }} }}
quantiles: 0.5''']),
    ('ComputeService/ReduceByKey', [r'''keys { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "\003\001\003" } }
values { inline_array { element_type: ELEMENT_TYPE_INT8 data: "\001\002\005" } }
statistics: STATISTIC_MEAN statistics: STATISTIC_ARGMAX
found { }''']),
    ('ComputeService/ReduceByKey', [r'''keys { inline_array { element_type: ELEMENT_TYPE_INT8 data: "\001\002\001" } }
values { inline_array { element_type: ELEMENT_TYPE_INT8 data: "\012\024\036" } }
statistics: STATISTIC_SUM
found { key_count_max: 100 }''']),
    ('ComputeService/MergeAccumulators', ['accumulators: {accumulator} accumulators: {accumulator}']),
    ('ComputeService/SubtractAccumulators', ['minuend: {accumulator} subtrahends: {accumulator} partial: true']),
    ('ComputeService/ReduceStream', [
        '''request {
  array { streamed_array { element_type: ELEMENT_TYPE_UINT8 } }
  statistics: STATISTIC_MAX
}
data: "abc"''', 'data: "xyz"']),
    ('ComputeService/HistogramStream', [
        '''request {
  array { streamed_array { element_type: ELEMENT_TYPE_UINT8 } }
  bins { edges { edges: 97 edges: 110 edges: 122 } }
}
data: "abc"''', 'data: "xyz"']),
    ('ComputeService/ReduceByKeyStream', [
        '''request {
  keys { streamed_array { element_type: ELEMENT_TYPE_UINT8 } }
  values { streamed_array { element_type: ELEMENT_TYPE_UINT8 } }
  statistics: STATISTIC_MAX found { }
}
keys: "aba" values: "\\001\\002\\005"''', 'keys: "b" values: "\\011"']),
    ('ComputeService/ScanStream', [
        '''request {
  array { streamed_array { element_type: ELEMENT_TYPE_UINT8 } }
  operation: SCAN_OPERATION_MAX output_type: ELEMENT_TYPE_UINT8
}
data: "abc"''', 'data: "xya"']),
    ('ComputeService/BatchCompute', [f'''operations {{ reduction {{
  array {{ {SIX_BYTES} }} statistics: STATISTIC_MIN
}} }}
operations {{ reduction {{
  array {{ inline_array {{ element_type: ELEMENT_TYPE_INT8 }} }} statistics: STATISTIC_MIN
}} }}''']),
    ('ComputeService/ComputeQuantiles', [f'''array {{ {SIX_BYTES} }}
quantiles: 0.5 quantiles: 0.9 ranks: 0
grouping {{ axes {{ axes: -1 }} }}''']),
    ('ComputeService/SelectTop', [f'array {{ {SIX_BYTES} }} count: 3']),
    ('ComputeService/RelateArrays', [r'''x { inline_array { element_type: ELEMENT_TYPE_INT8 data: "\001\002\005" } }
y { inline_array { element_type: ELEMENT_TYPE_INT8 data: "\003\001\001" } }
statistics: PAIRED_STATISTIC_DOT statistics: PAIRED_STATISTIC_CORRELATION''']),
    ('ArrayService/CreateArray', ['''name: "samples" element_type: ELEMENT_TYPE_UINT8 shape: 6
idle_expiry { seconds: 600 }''']),
    ('ArrayService/WriteArray', ['header { name: "samples" } data: "abc"',
                                 'first_element: 3 data: "xyz"']),
    ('ArrayService/ReadArray', ['array { name: "samples" slice { first: 2 count: 2 } }']),
    ('ArrayService/GetArray', ['name: "samples"']),
    ('ArrayService/ListArrays', ['page_size: 100']),
    ('ArrayService/DeleteArray', ['name: "samples"']),
    ('RegionService/RegisterRegion', ['''name: "shared" size_bytes: 4096
posix_shared_memory { object_name: "/{object_name}" }''']),
    ('RegionService/ListRegions', ['']),
    ('RegionService/UnregisterRegion', ['name: "shared"']),
    ('ServerService/GetStatistics', ['']),
]
# What differs from run to run.
LEFT_OUT = {'execution', 'uptime', 'idle_time', 'devices', 'details'}


@contextlib.contextmanager
def running_server(binary: str) -> Iterator[grpc.Channel]:
    with tempfile.TemporaryDirectory() as folder:
        socket = f'unix:{folder}/socket'
        port_file = pathlib.Path(folder, 'port')
        with subprocess.Popen([binary, '--listen', socket, '--engine', 'cpu', '--cpu-threads', '1',
                               '--lanes', '2', '--allow-regions', '--log-level', 'error',
                               '--metrics-address', 'off',
                               '--port-file', port_file]) as server:
            try:
                end = time.monotonic() + SECONDS_MAX
                while not port_file.exists():
                    if server.poll() is not None or time.monotonic() > end:
                        raise RuntimeError(f'{binary} does not serve')
                    time.sleep(0.02)
                with grpc.insecure_channel(socket) as channel:
                    yield channel
            finally:
                server.kill()


def strip(message) -> None:
    """Takes away what differs from run to run, wherever it is."""
    for field, value in list(message.ListFields()):
        if field.name in LEFT_OUT:
            message.ClearField(field.name)
        elif field.message_type and field.label == field.LABEL_REPEATED:
            for item in value:
                strip(item)
        elif field.message_type:
            strip(value)


def to_text(message) -> str:
    strip(message)
    return text_format.MessageToString(message, as_utf8=True) or '(no fields)\n'


class Caller:
    """Calls methods by their names, with messages of the descriptors."""

    def __init__(self, descriptors, channel: grpc.Channel):
        self.pool = descriptor_pool.DescriptorPool()
        for file in descriptors.file:
            self.pool.Add(file)
        self.channel = channel

    def message_class(self, descriptor):
        if hasattr(message_factory, 'GetMessageClass'):
            return message_factory.GetMessageClass(descriptor)
        return message_factory.MessageFactory(self.pool).GetPrototype(descriptor)

    def call(self, name: str, requests: list[str]) -> list:
        """The answers, of which there is one unless they are a stream."""
        service, method_name = name.split('/')
        method = self.pool.FindServiceByName(f'gridfold.v1.{service}').FindMethodByName(method_name)
        request_class = self.message_class(method.input_type)
        messages = [text_format.Parse(request, request_class()) for request in requests]
        of_file = next(found for found in self.methods(service) if found.name == method_name)
        kind = (('stream' if of_file.client_streaming else 'unary') + '_' +
                ('stream' if of_file.server_streaming else 'unary'))
        call = getattr(self.channel, kind)(
            f'/gridfold.v1.{name}', request_serializer=request_class.SerializeToString,
            response_deserializer=self.message_class(method.output_type).FromString)
        answer = call(iter(messages) if of_file.client_streaming else messages[0],
                      timeout=SECONDS_MAX)
        return list(answer) if of_file.server_streaming else [answer]

    def methods(self, service: str):
        from google.protobuf import descriptor_pb2
        proto = descriptor_pb2.ServiceDescriptorProto()
        self.pool.FindServiceByName(f'gridfold.v1.{service}').CopyToProto(proto)
        return proto.method


def make_examples(descriptors, server: str) -> dict[str, str]:
    """Runs all calls on a server of this binary: requests and answers by method."""
    examples = {}
    shared = shared_memory.SharedMemory(f'gridfold-example-{os.getpid()}', create=True, size=4096)
    facts = {'object_name': shared.name.lstrip('/')}
    try:
        shared.buf[:] = bytes(4096)  # So that there is memory behind all of it.
        with running_server(server) as channel:
            caller = Caller(descriptors, channel)
            for name, requests in CALLS:
                for fact, value in facts.items():
                    requests = [request.replace(f'{{{fact}}}', value) for request in requests]
                answers = caller.call(name, requests)
                if name == 'ComputeService/ReduceArray':
                    octal = text_format.MessageToString(answers[0], as_utf8=False)
                    facts['accumulator'] = next(line.split(': ', 1)[1] for line in octal.splitlines()
                                                if line.startswith('accumulator: '))
                shown = '\n>\n'.join('> ' + request.replace('\n', '\n> ') for request in requests)
                examples[name] = (f'{shown if any(requests) else "> (no fields)"}\n\n' +
                                  '\n'.join(to_text(answer) for answer in answers))
    finally:
        shared.close()
        shared.unlink()
    return examples
