// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/gzip_text.h"

#include "engine/base/error.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace spanscope::experiment {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b";
constexpr int kGzipWindow = 15 + 16;  // the largest window, and gzip's header and checksum around it

class Unpacker {
 public:
  Unpacker() { m_isReady = inflateInit2(&m_stream, kGzipWindow) == Z_OK; }
  ~Unpacker() {
    if (m_isReady) inflateEnd(&m_stream);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  bool isReady() const { return m_isReady; }
  z_stream& stream() { return m_stream; }

 private:
  z_stream m_stream{};
  bool m_isReady = false;
};

}  // namespace

std::string unpacked(std::string bytes, const std::string& file, std::size_t limit) {
  if (!bytes.starts_with(kMagic)) return bytes;
  constexpr std::size_t kStep = std::size_t{1} << 18U;
  const auto fail = [&](std::size_t at, std::string found, std::string expected) {
    return Failure({file, "byte " + std::to_string(at), std::move(found), std::move(expected)});
  };
  if (bytes.size() > std::numeric_limits<uInt>::max())
    throw fail(0, std::to_string(bytes.size()) + " bytes", "fewer than 4 GiB");
  Unpacker unpacker;
  if (!unpacker.isReady()) throw fail(0, "no memory to unpack the file", "enough memory");
  z_stream& stream = unpacker.stream();
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::string step(kStep, '\0');
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(step.data());
    stream.avail_out = static_cast<uInt>(step.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = step.size() - stream.avail_out;
    if (got > limit - text.size())
      throw fail(bytes.size() - stream.avail_in, "more than " + std::to_string(limit) + " bytes unpacked",
                 "at most this size");
    text.append(step, 0, got);
    const std::size_t at = bytes.size() - stream.avail_in;
    if (state == Z_STREAM_END) {
      // A file may contain several gzip streams in sequence.
      if (stream.avail_in == 0) return text;
      if (inflateReset(&stream) != Z_OK) throw fail(at, "more bytes", "the end of the file");
    } else if (state == Z_BUF_ERROR || (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      throw fail(at, "the end of the file", "the rest of the compressed data");
    } else if (state != Z_OK) {
      throw fail(at, stream.msg == nullptr ? "damaged data" : stream.msg, "gzip");
    }
  }
}

}  // namespace spanscope::experiment
