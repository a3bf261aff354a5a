// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/layout/layouts.h"

#include "engine/base/error.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace spanscope::layout {
namespace {

// Layouts are registered only here, in the order of the enumeration.
constexpr std::array<LayoutInfo, 3> kLayouts = {
    {{.layout = Layout::Exact,
      .name = "exact",
      .brief = /*id:chat-templates-text*/ "the chat template's text",
      .help = "The chat template's text, token for token, without padding or truncation",
      .over = ""},
     {.layout = Layout::Padded,
      .name = "padded",
      .brief = "padding and delimiter tokens",
      .help = "Each child of a plus begins with a delimiter token at a block boundary. The last child of a "
              "cross also begins with a delimiter token. Padding fills the block before a delimiter",
      .over = "for the padded tokens, not the chat template's text"},
     {.layout = Layout::Cropped,
      .name = "cropped",
      .brief = "padded, and answers truncated to whole blocks",
      .help = "Like padded, and each answer is truncated at its last block boundary. IBM/spnl sends answers "
              "in this form to servers with span support",
      .over =
          /*id:over-padded-cropped*/ "for the padded and cropped tokens, not the chat template's text"}}};

/// Returns the id of the text as a single token. Otherwise returns an id for the same bytes.
TokenId tokenOf(const text::Tokenizer& tokenizer, const std::string& text) {
  const std::vector<TokenId> ids = tokenizer.encode(text);
  if (ids.size() == 1) return ids.front();
  std::optional<TokenId> byte;
  for (TokenId id = 0; id < tokenizer.vocabularySize(); ++id) {
    if (tokenizer.isControl(id) || tokenizer.bytes(id) != text) continue;
    if (tokenizer.display(id) == text) return id;
    if (!byte) byte = id;
  }
  if (byte) return *byte;
  throw Failure(Error{tokenizer.source(), "vocabulary", "no single token for the text \"" + text + "\"",
                      "a token that the padded and cropped layouts use as delimiter"});
}

}  // namespace

std::span<const LayoutInfo> layouts() {
  return kLayouts;
}

const LayoutInfo& infoOf(Layout layout) {
  return kLayouts.at(static_cast<std::size_t>(layout));
}

std::optional<Layout> findLayout(std::string_view name) {
  const auto* const found = std::ranges::find(kLayouts, name, &LayoutInfo::name);
  return found == kLayouts.end() ? std::nullopt : std::optional(found->layout);
}

std::string exactnessOver(std::string exactness, Layout layout) {
  const char* const over = infoOf(layout).over;
  return *over == '\0' ? exactness : exactness + ", " + over;
}

MarkerTokens markerTokens(const text::Tokenizer& tokenizer) {
  return {.pad = tokenOf(tokenizer, "<"), .plus = tokenOf(tokenizer, "+"), .cross = tokenOf(tokenizer, "@")};
}

}  // namespace spanscope::layout
