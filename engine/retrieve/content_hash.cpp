// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace spanscope::retrieve {

std::string contentHash(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace spanscope::retrieve
