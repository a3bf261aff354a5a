// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/content_decoder.h"

#include "engine/base/error.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstdint>

namespace spanscope::gateway {

namespace {

constexpr std::size_t kDecodedPiece = std::size_t{16} << 10U;

[[noreturn]] void refuseContent(const std::string& found) {
  throw Failure(errorAt("answer", found, "a compressed answer that can be read"));
}

/// Both formats of zlib: "gzip", and "deflate" with its header.
class ZlibDecoder final : public ContentDecoder {
 public:
  ZlibDecoder() {
    constexpr int kAnyFormat = 32;
    if (inflateInit2(&m_stream, MAX_WBITS + kAnyFormat) != Z_OK) refuseContent("no memory to decompress");
  }
  ~ZlibDecoder() override { inflateEnd(&m_stream); }

 private:
  void decode(std::string_view piece, std::string& content) override {
    m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // NOLINT: zlib only reads
    m_stream.avail_in = static_cast<uInt>(piece.size());
    std::array<Bytef, kDecodedPiece> buffer;  // NOLINT: inflate() writes the used bytes
    while (!m_hasEnded && content.size() <= kMostBytes) {
      m_stream.next_out = buffer.data();
      m_stream.avail_out = static_cast<uInt>(buffer.size());
      const int state = inflate(&m_stream, Z_NO_FLUSH);
      content.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - m_stream.avail_out);
      m_hasEnded = state == Z_STREAM_END;
      if (state == Z_BUF_ERROR || (state == Z_OK && m_stream.avail_out > 0)) return;
      if (state != Z_OK && !m_hasEnded) refuseContent("damaged compressed bytes");
    }
  }

  z_stream m_stream{};
  bool m_hasEnded = false;
};

class ZstdDecoder final : public ContentDecoder {
 public:
  ZstdDecoder() : m_stream(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!m_stream) refuseContent("no memory to decompress");
  }

 private:
  void decode(std::string_view piece, std::string& content) override {
    ZSTD_inBuffer in{.src = piece.data(), .size = piece.size(), .pos = 0};
    std::array<char, kDecodedPiece> buffer;  // NOLINT: ZSTD_decompressStream() writes the used bytes
    ZSTD_outBuffer out{.dst = buffer.data(), .size = buffer.size(), .pos = buffer.size()};
    // A full buffer can mean that more content waits.
    while ((in.pos < in.size || out.pos == out.size) && content.size() <= kMostBytes) {
      out.pos = 0;
      const std::size_t before = in.pos;
      if (ZSTD_isError(ZSTD_decompressStream(m_stream.get(), &out, &in)) != 0)
        refuseContent("damaged compressed bytes");
      content.append(buffer.data(), out.pos);
      if (in.pos == before && out.pos == 0) return;
    }
  }

  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> m_stream;
};

class BrotliDecoder final : public ContentDecoder {
 public:
  BrotliDecoder()
      : m_state(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance) {
    if (!m_state) refuseContent("no memory to decompress");
  }

 private:
  void decode(std::string_view piece, std::string& content) override {
    const auto* next = reinterpret_cast<const std::uint8_t*>(piece.data());  // NOLINT: the type of Brotli
    std::size_t left = piece.size();
    std::array<std::uint8_t, kDecodedPiece> buffer;  // NOLINT: the decoder writes the used bytes
    while (!m_hasEnded && content.size() <= kMostBytes) {
      std::uint8_t* out = buffer.data();
      std::size_t room = buffer.size();
      const BrotliDecoderResult result =
          BrotliDecoderDecompressStream(m_state.get(), &left, &next, &room, &out, nullptr);
      content.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - room);
      if (result == BROTLI_DECODER_RESULT_ERROR) refuseContent("damaged compressed bytes");
      m_hasEnded = result == BROTLI_DECODER_RESULT_SUCCESS;
      if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) return;
    }
  }

  std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> m_state;
  bool m_hasEnded = false;
};

}  // namespace

std::unique_ptr<ContentDecoder> ContentDecoder::make(std::string_view encoding) {
  if (encoding == "gzip" || encoding == "x-gzip" || encoding == "deflate")
    return std::make_unique<ZlibDecoder>();
  if (encoding == "br") return std::make_unique<BrotliDecoder>();
  if (encoding == "zstd") return std::make_unique<ZstdDecoder>();
  return nullptr;
}

std::string ContentDecoder::take(std::string_view piece) {
  std::string content;
  decode(piece, content);
  m_bytes += content.size();
  if (m_bytes > kMostBytes)
    refuseContent("more than " + std::to_string(kMostBytes >> 20U) + " MiB of content");
  return content;
}

}  // namespace spanscope::gateway
