// SPDX-License-Identifier: GPL-3.0-or-later
// Conversations with retrieval as MTRAG publishes them (github.com/IBM/mt-rag-benchmark): what was said up to
// each question, and the passages that belong to it. Their file is no part of this project: it is read from
// wherever a person has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace spanscope::experiment {

struct Passage {
  std::string id;
  std::string text;
};

struct Said {
  bool byUser = true;  ///< else by the one who answers
  std::string text;
};

struct ConversationTurn {
  std::vector<Said> said;  ///< all so far; the last one is the question
  std::vector<std::size_t>
      passages;  ///< that were retrieved for it, of Conversations::passages; may be empty
};

struct Conversation {
  std::string id;
  std::vector<ConversationTurn> turns;  ///< in their order, at least one
};

struct Conversations {
  std::vector<Passage> passages;
  std::vector<Conversation> conversations;  ///< as they begin in the file
};

/// Reads a JSON file with the members `documents` (`document_id`, `text`) and `tasks` (`task_id`
/// "CONVERSATION<::>TURN", `input` of `speaker` and `text`, `contexts` of `document_id`), packed with gzip or
/// not. Throws Failure with file, place, what is there and what should be: where it is none such, names a
/// passage or a turn twice, has a passage that is not there, or is larger than a person could mean.
Conversations readConversations(const std::filesystem::path& file);

/// Where they are: `asked`, a file or a folder that has one; where that is empty, the folder "mtrag" in one
/// of `published`, which are tried in their order. Throws Failure that says in words what is missing and
/// where was looked.
std::filesystem::path findConversations(const std::filesystem::path& asked,
                                        std::span<const std::filesystem::path> published);

}  // namespace spanscope::experiment
