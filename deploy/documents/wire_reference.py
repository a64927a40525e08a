"""Reference pages of the wire API, made of the protocol files: services, messages and enums with the
comments that stand there, and an example of each call with the answer that a server gave to it."""
import pathlib
import subprocess
import tempfile
from typing import Iterator

from google.protobuf import descriptor_pb2

SCALARS = {value: name.removeprefix('TYPE_').lower()
           for name, value in descriptor_pb2.FieldDescriptorProto.Type.items()}
Field = descriptor_pb2.FieldDescriptorProto
# Numbers of fields of descriptors, of which the paths of comments are made.
FILE_MESSAGES, FILE_ENUMS, FILE_SERVICES = 4, 5, 6
MESSAGE_FIELDS, MESSAGE_MESSAGES, MESSAGE_ENUMS = 2, 3, 4
ENUM_VALUES, SERVICE_METHODS = 2, 2


def read_descriptors(folder: pathlib.Path) -> descriptor_pb2.FileDescriptorSet:
    """All protocol files below a folder, with their comments and with what they import."""
    names = sorted(str(path.relative_to(folder)) for path in folder.glob('**/*.proto'))
    with tempfile.NamedTemporaryFile() as output:
        subprocess.run(['protoc', '-I', folder, '--include_source_info', '--include_imports',
                        f'--descriptor_set_out={output.name}', *names], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(output.name).read_bytes())


def escape(text: str) -> str:
    """A comment as Markdown in which nothing but its words means anything."""
    for character in '\\`*_<[|':
        text = text.replace(character, '\\' + character)
    return text


def anchor(name: str) -> str:
    return 'wire-' + name.lower().replace('.', '-')


def reference(type_name: str) -> str:
    """The name of a type, as a link where it is one of ours."""
    short = type_name.removeprefix('.gridfold.v1.')
    if short == type_name:
        return type_name.removeprefix('.')
    return f'{{ref}}`{short} <{anchor(short)}>`'


def field_type(field: Field) -> str:
    name = reference(field.type_name) if field.type_name else SCALARS[field.type]
    if field.label == Field.LABEL_REPEATED:
        return 'repeated ' + name
    return 'optional ' + name if field.proto3_optional else name


class Page:
    """The page of one protocol file."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto):
        self.file = file
        self.comments = {tuple(location.path): location.leading_comments
                         for location in file.source_code_info.location}

    def comment(self, *path: int) -> str:
        lines = [line.strip() for line in self.comments.get(path, '').strip().splitlines()]
        return escape('\n'.join(lines))

    def cell(self, *path: int) -> str:
        return ' '.join(self.comment(*path).split())

    def lines(self, examples: dict[str, str]) -> Iterator[str]:
        """`examples` has one for each method that has any, by "Service/Method"."""
        yield f'# {pathlib.Path(self.file.name).stem.replace("_", " ").capitalize()}\n'
        yield f'From `proto/{self.file.name}`, package `{self.file.package}`.\n'
        for index, service in enumerate(self.file.service):
            yield f'## {service.name}\n'
            yield self.comment(FILE_SERVICES, index) + '\n'
            for number, method in enumerate(service.method):
                yield from self.method(service, method, (FILE_SERVICES, index, SERVICE_METHODS, number),
                                       examples.get(f'{service.name}/{method.name}'))
        if self.file.message_type:
            yield '## Messages\n'
        for index, message in enumerate(self.file.message_type):
            yield from self.message(message, message.name, (FILE_MESSAGES, index))
        if self.file.enum_type:
            yield '## Enums\n'
        for index, enum in enumerate(self.file.enum_type):
            yield from self.enum(enum, enum.name, (FILE_ENUMS, index))

    def method(self, service, method, path, example) -> Iterator[str]:
        def side(type_name, is_stream):
            return ('stream of ' if is_stream else '') + reference(type_name)
        yield f'### {method.name}\n'
        yield (f'{side(method.input_type, method.client_streaming)} → '
               f'{side(method.output_type, method.server_streaming)}\n')
        yield self.comment(*path) + '\n'
        if example is None:
            print(f'wire reference: {service.name}/{method.name} has no example in wire_examples.py')
        else:
            yield 'For example, in text form:\n'
            yield f'```text\n{example}```\n'

    def message(self, message, name, path) -> Iterator[str]:
        maps = {f'.{self.file.package}.{name}.{inner.name}':
                f'map of {field_type(inner.field[0])} to {field_type(inner.field[1])}'
                for inner in message.nested_type if inner.options.map_entry}
        yield f'({anchor(name)})=\n### {name}\n'
        yield self.comment(*path) + '\n'
        if message.field:
            yield '| field | type | what |\n|---|---|---|'
        for index, field in enumerate(message.field):
            what = self.cell(*path, MESSAGE_FIELDS, index)
            if field.HasField('oneof_index') and not field.proto3_optional:
                what = f'One of *{message.oneof_decl[field.oneof_index].name}*. {what}'
            kind = maps.get(field.type_name) or field_type(field)
            yield f'| `{field.name}` = {field.number} | {kind} | {what} |'
        yield ''
        for index, inner in enumerate(message.nested_type):
            if inner.options.map_entry:
                continue
            yield from self.message(inner, f'{name}.{inner.name}', (*path, MESSAGE_MESSAGES, index))
        for index, inner in enumerate(message.enum_type):
            yield from self.enum(inner, f'{name}.{inner.name}', (*path, MESSAGE_ENUMS, index))

    def enum(self, enum, name, path) -> Iterator[str]:
        yield f'({anchor(name)})=\n### {name}\n'
        yield self.comment(*path) + '\n'
        yield '| value | number | what |\n|---|---:|---|'
        for index, value in enumerate(enum.value):
            yield f'| `{value.name}` | {value.number} | {self.cell(*path, ENUM_VALUES, index)} |'
        yield ''


def write_pages(descriptors: descriptor_pb2.FileDescriptorSet, examples: dict[str, str],
                folder: pathlib.Path) -> list[str]:
    """Writes a page for each of our protocol files; gives their names, without .md."""
    names = []
    for file in descriptors.file:
        if file.package.startswith('google.'):
            continue
        name = pathlib.Path(file.name).stem
        (folder / f'{name}.md').write_text('\n'.join(Page(file).lines(examples)), encoding='utf-8')
        names.append(name)
    # Services first.
    return sorted(names, key=lambda name: (not name.endswith('_service'), name))
