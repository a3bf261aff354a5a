// SPDX-License-Identifier: GPL-3.0-or-later
// The table of known chat templates, and how they are recognized. Open this file to add a chat template.
#pragma once

#include "engine/text/chat_template.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// Returns the text of a template without meaningless differences. Escaped and plain line ends become equal,
/// and white space around the text is removed.
std::string canonicalTemplate(std::string_view source);

/// Returns XXH3, 64 bits, of the canonical text.
std::uint64_t templateFingerprint(std::string_view source);

/// Returns the canonical text in one style. Tags use one kind of quotes and have no spaces outside of quotes.
/// message['role'] becomes m.role.
std::string templateCode(std::string_view source);

/// Returns a marker in the style of templateCode(). A marker with a quotation mark is code. Other markers do
/// not change.
std::string markerCode(std::string_view marker);

/// Whether a Jinja program writes white space between its tags, outside of quotes. The rules are those of
/// transformers: trim_blocks, lstrip_blocks, and no line end at the end of the program.
bool writesSpaceBetweenTags(std::string_view source);

/// A chat template, and how to recognize that a checkpoint uses it.
struct KnownChatTemplate {
  ChatTemplate chat;
  std::vector<std::uint64_t> fingerprints;  ///< of templates that write plain turns exactly like this one
  std::vector<std::string> markers;         ///< the code of the family's templates contains all these markers
  std::vector<std::string> foreign;         ///< the code contains none of these markers
};

/// Returns all known chat templates. Markers are tried in this order.
const std::vector<KnownChatTemplate>& knownChatTemplates();

}  // namespace spanscope::text
