# syntax=docker/dockerfile:1
# Two stages: packages are installed in the first, the second has neither pip's cache nor a compiler.
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/attest
# The packages change less often than the code: this layer is kept while constraints.txt stays as it is.
COPY pyproject.toml constraints.txt README.md ./
RUN mkdir -p service es_mappings rerank_models && touch service/__init__.py \
    && /opt/attest/bin/pip install --no-cache-dir --constraint constraints.txt . \
    && /opt/attest/bin/pip uninstall --yes attest
COPY service service
COPY es_mappings es_mappings
COPY rerank_models rerank_models
RUN /opt/attest/bin/pip install --no-cache-dir --no-deps --constraint constraints.txt .

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/attest attest
COPY --from=build /opt/attest /opt/attest
ENV PATH=/opt/attest/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ORT_DISABLE_TELEMETRY=1 \
    ATTEST_HOST=0.0.0.0 \
    ATTEST_DATA_DIR=/var/lib/attest/data
USER attest
WORKDIR /var/lib/attest
VOLUME /var/lib/attest
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=40s --retries=4 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
CMD ["attest", "serve"]
