# syntax=docker/dockerfile:1
# gridfold_server, its command line and its load generator, and nothing else.
#
#   docker build -t gridfold .                                     CUDA and CPU engines
#   docker build -t gridfold:cpu --build-arg GRIDFOLD_CUDA=OFF \
#     --build-arg BUILD_IMAGE=debian:12-slim --build-arg RUNTIME_IMAGE=debian:12-slim .
#
# Build and runtime image must be of the same distribution release (Debian 12 or Ubuntu 24.04): the
# C library is the runtime image's. The CUDA runtime is linked in; the driver comes from the host, and
# NVIDIA's runtime image has what lets some older drivers do. deploy/verify_image.sh checks the result.
ARG BUILD_IMAGE=nvidia/cuda:13.0.0-devel-ubuntu24.04
ARG RUNTIME_IMAGE=nvidia/cuda:13.0.0-base-ubuntu24.04

FROM ${BUILD_IMAGE} AS build
ARG GRIDFOLD_CUDA=ON
# Newer GPUs of the same generation run these too; those of later ones translate the last.
ARG CUDA_ARCHITECTURES=80-real;86-real;89-real;90-real;100;120
WORKDIR /src
COPY deploy/install_dependencies.sh deploy/
RUN deploy/install_dependencies.sh && rm -rf /var/lib/apt/lists/*
COPY . .
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset release -DGRIDFOLD_CUDA=${GRIDFOLD_CUDA} -DGRIDFOLD_BUILD_TESTS=OFF \
      -DGRIDFOLD_BUNDLE_LIBRARIES=ON "-DCMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}" \
 && cmake --build build/release \
 && cmake --install build/release --prefix /opt/gridfold --strip \
 && rm -rf /opt/gridfold/include /opt/gridfold/lib/cmake /opt/gridfold/lib/pkgconfig /opt/gridfold/lib/*.a \
      /opt/gridfold/lib/libgridfold_core.so* /opt/gridfold/libexec /opt/gridfold/share

FROM ${RUNTIME_IMAGE}
LABEL org.opencontainers.image.title="gridfold" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.description="Reduces, scans and histograms large arrays on a GPU for remote callers" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/gridfold /opt/gridfold
ENV PATH=/opt/gridfold/bin:${PATH} \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 65532:65532
EXPOSE 50051 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["gridfold", "info", "--health"]
ENTRYPOINT ["gridfold_server"]
CMD ["--listen", "0.0.0.0:50051", "--insecure", "--metrics-address", "0.0.0.0:9464"]
