// SPDX-License-Identifier: GPL-3.0-or-later
// The first byte chooses the format. PDF is left out: its parser is poppler's, which is fuzzed where it
// lives.
#include "engine/retrieve/document_text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace spanscope::retrieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr DocumentFormat kFormats[] = {DocumentFormat::PlainText, DocumentFormat::Markdown,
                                         DocumentFormat::JsonLines, DocumentFormat::Csv};
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  readUnits("document", kFormats[data[0] % 4], bytes);
  return 0;
}
