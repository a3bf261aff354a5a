// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/chat_template.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The text of a template with the differences taken out that mean nothing: line ends written as an escape
/// or as they are, white space around it.
std::string canonicalTemplate(std::string_view source);

/// XXH3, 64 bits, of the canonical text.
std::uint64_t templateFingerprint(std::string_view source);

/// A chat template and how a checkpoint is known to use it.
struct KnownChatTemplate {
  ChatTemplate chat;
  std::vector<std::uint64_t>
      fingerprints;                  ///< of templates that write this, and nothing else, for plain turns
  std::vector<std::string> markers;  ///< all of them stand in the canonical text of the family's templates
  std::vector<std::string> foreign;  ///< none of these does
};

/// Every chat template that is known. Markers are tried in this order.
const std::vector<KnownChatTemplate>& knownChatTemplates();

}  // namespace spanscope::text
