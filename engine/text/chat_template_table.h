// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/chat_template.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The text of a template without meaningless differences: escaped and plain line ends are written alike, and
/// white space around the text is removed.
std::string canonicalTemplate(std::string_view source);

/// XXH3, 64 bits, of the canonical text.
std::uint64_t templateFingerprint(std::string_view source);

/// The canonical text in one style: within tags no spaces outside of quotes, one kind of quotes, and m.role
/// for message['role'].
std::string templateCode(std::string_view source);

/// A marker in the style of templateCode(). One with a quotation mark is code; any other is taken as it is.
std::string markerCode(std::string_view marker);

/// Whether a Jinja program writes white space between its tags, outside of quotes. Rules are those of
/// transformers: trim_blocks, lstrip_blocks, and no line end at the end of the program.
bool writesSpaceBetweenTags(std::string_view source);

/// A chat template, and how to recognize that a checkpoint uses it.
struct KnownChatTemplate {
  ChatTemplate chat;
  std::vector<std::uint64_t> fingerprints;  ///< of templates that write plain turns exactly like this one
  std::vector<std::string> markers;         ///< the code of the family's templates contains all of them
  std::vector<std::string> foreign;         ///< it contains none of them
};

/// All known chat templates. Markers are tried in this order.
const std::vector<KnownChatTemplate>& knownChatTemplates();

}  // namespace spanscope::text
