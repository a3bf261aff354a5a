// SPDX-License-Identifier: GPL-3.0-or-later
// Conversations with retrieval in the format of MTRAG (github.com/IBM/mt-rag-benchmark): the messages up to
// each question, and the passages that belong to it. The file is not part of this project; it is read from a
// place that a person names.
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
  bool byUser = true;  ///< otherwise by the assistant
  std::string text;
};

struct ConversationTurn {
  std::vector<Said> said;             ///< all messages so far; the last one is the question
  std::vector<std::size_t> passages;  ///< the passages that were retrieved for the question, in
                                      ///< Conversations::passages; may be empty
};

struct Conversation {
  std::string id;
  std::vector<ConversationTurn> turns;  ///< in order, at least one
};

struct Conversations {
  std::vector<Passage> passages;
  std::vector<Conversation> conversations;  ///< in the order of their beginnings in the file
};

/// Reads a JSON file, packed with gzip or not, with the members `documents` (`document_id`, `text`) and
/// `tasks` (`task_id` "CONVERSATION<::>TURN", `input` of `speaker` and `text`, `contexts` of `document_id`).
/// Throws Failure with file, place, what was found and what was expected, if the file has another form, names
/// a passage or a turn twice, refers to a missing passage, or is unreasonably large.
Conversations readConversations(const std::filesystem::path& file);

/// Finds the file. `asked` is a file, or a folder that contains it. If `asked` is empty, it is the folder
/// "mtrag" in one of `published`, tried in order. Throws Failure that says what is missing and where it was
/// searched.
std::filesystem::path findConversations(const std::filesystem::path& asked,
                                        std::span<const std::filesystem::path> published);

}  // namespace spanscope::experiment
