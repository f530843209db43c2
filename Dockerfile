# The command `kalypso`, without the sandbox: docker build --tag kalypso .

FROM python:3.13-slim-trixie AS build
WORKDIR /source
COPY requirements.lock requirements-product.lock ./
RUN python -m pip install --no-cache-dir --require-hashes --only-binary ":all:" \
        --requirement requirements-product.lock \
    && python -m venv /opt/kalypso \
    && /opt/kalypso/bin/pip install --no-cache-dir --require-hashes --only-binary ":all:" \
        --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY kalypso_actions kalypso_actions
COPY kalypso_go kalypso_go
COPY kalypso_placement kalypso_placement
COPY kalypso_sandbox kalypso_sandbox
COPY workflows-templates workflows-templates
RUN python -m hatchling build --target wheel \
    && /opt/kalypso/bin/pip install --no-cache-dir --no-index --no-deps dist/*.whl

FROM python:3.13-slim-trixie
# hadolint ignore=DL3008 # Debian keeps only the newest version of a release
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home kalypso
COPY --from=build /opt/kalypso /opt/kalypso
ENV PATH=/opt/kalypso/bin:$PATH
USER 10001
WORKDIR /work
ENTRYPOINT ["kalypso"]
CMD ["--help"]
