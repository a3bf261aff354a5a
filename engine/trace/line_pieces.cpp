// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/line_pieces.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace spanscope::trace {
namespace {

constexpr std::size_t kLongestText = 60;  // bytes

void escape(std::string& out, std::string_view text) {
  const auto hex = [&out](unsigned char byte) {
    out += "\\x";
    appendHex(out, byte, 2);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 … U+009F are control characters too.
    const bool secondSet =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      hex(byte);
    } else if (secondSet) {
      hex(byte);
      hex(static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
}

}  // namespace

std::string fixedPoint(double value, int digits) {
  // printf() uses the locale, which Qt sets.
  std::array<char, 400> text{};  // the longest double has 309 digits before the point
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

std::string shareNumber(double share, int digits) {
  const double percent = 100 * share;
  const double step = std::pow(10.0, -digits);
  if (share > 0 && percent < step) return "<" + fixedPoint(step, digits);
  if (share < 1 && percent >= 100 - step / 2) return ">" + fixedPoint(100 - step, digits);
  return fixedPoint(percent, digits);
}

std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  escape(out, beginningOf(text, kLongestText));
  return out + (text.size() > kLongestText ? "…\"" : "\"");
}

std::string escaped(std::string_view text) {
  std::string out;
  escape(out, text.substr(0, 4 * kLongestText));
  return out;
}

std::string placeText(std::uint32_t segment, std::int32_t virtualIndex) {
  return "segment " + std::to_string(segment) + ", block " + std::to_string(virtualIndex);
}

std::string physicalText(BlockId block) {
  return "physical block " + std::to_string(block);
}

std::string keyText(const BlockKey& key) {
  char text[32];
  std::snprintf(text, sizeof(text), "%08llx", static_cast<unsigned long long>(key.high >> 32));
  return text;
}

std::string bytesText(std::uint64_t bytes) {
  constexpr double kMebibyte = 1 << 20;
  const auto mebibytes = static_cast<double>(bytes) / kMebibyte;
  return mebibytes < 1 ? std::to_string(bytes) + " bytes" : fixedPoint(mebibytes, 0) + " MiB";
}

std::string tierText(StoreTier tier) {
  return tier == StoreTier::Disk ? "the disk" : "host memory";
}

std::string poolText(const PoolState& pool) {
  return counted(pool.blocks.size(), "block") + " of " + counted(pool.blockSize, "token") + ", " +
         std::to_string(pool.freeOrder.size()) + " free";
}

std::string requestsText(const std::vector<RequestId>& requests) {
  std::string text;
  for (const RequestId request : requests) text += (text.empty() ? "" : ", ") + std::to_string(request);
  return text;
}

}  // namespace spanscope::trace
