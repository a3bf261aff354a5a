// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace spanscope::gateway {

/// Decompresses the content of an answer while the answer arrives.
class ContentDecoder {
 public:
  /// `encoding`: the value of Content-Encoding. "gzip", "deflate", "br" (Brotli) and "zstd" are known. Null:
  /// the encoding is unknown.
  static std::unique_ptr<ContentDecoder> make(std::string_view encoding);
  virtual ~ContentDecoder() = default;

  /// Returns the next piece of the content. Throws Failure for damaged bytes, and if the whole content has
  /// more than 64 MiB.
  std::string take(std::string_view piece);

 private:
  /// Adds the content of `piece` in steps. Stops if the content is larger than allowed.
  virtual void decode(std::string_view piece, std::string& content) = 0;

  std::size_t m_bytes = 0;

 protected:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
};

}  // namespace spanscope::gateway
