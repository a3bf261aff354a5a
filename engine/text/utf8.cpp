// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/utf8.h"

#include <algorithm>

namespace spanscope::text {
namespace {

/// The lead byte says how long a character is and which second bytes keep it shortest, no surrogate and in
/// range.
struct Lead {
  std::size_t length = 0;
  unsigned secondLow = 0x80;
  unsigned secondHigh = 0xBF;
};

Lead leadOf(unsigned byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step nextUtf8(std::string_view bytes) {
  const Lead lead = leadOf(static_cast<unsigned char>(bytes.front()));
  if (lead.length == 0) return {Utf8Step::Kind::Invalid, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Utf8Step::Kind::Incomplete, i};
    const unsigned byte = static_cast<unsigned char>(bytes[i]);
    const unsigned low = i == 1 ? lead.secondLow : 0x80U;
    const unsigned high = i == 1 ? lead.secondHigh : 0xBFU;
    if (byte < low || byte > high) return {Utf8Step::Kind::Invalid, i};
  }
  return {Utf8Step::Kind::Character, lead.length};
}

bool isValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Step step = nextUtf8(bytes);
    if (step.kind != Utf8Step::Kind::Character) return false;
    bytes.remove_prefix(step.length);
  }
  return true;
}

std::string toValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = nextUtf8(bytes);
    valid += step.kind == Utf8Step::Kind::Character ? bytes.substr(0, step.length) : kReplacementCharacter;
    bytes.remove_prefix(step.length);
  }
  return valid;
}

std::size_t settledUtf8Length(std::string_view bytes) {
  // Only a lead byte among the last three bytes can begin a character that is not whole.
  const std::size_t from = bytes.size() - std::min<std::size_t>(bytes.size(), 3);
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const Utf8Step step = nextUtf8(bytes.substr(i));
    if (step.kind == Utf8Step::Kind::Incomplete) return i;
  }
  return bytes.size();
}

}  // namespace spanscope::text
