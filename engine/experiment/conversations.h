// SPDX-License-Identifier: GPL-3.0-or-later
// Reads conversations with retrieval in the format of MTRAG (github.com/IBM/mt-rag-benchmark). A conversation
// has one turn per question. A turn has all messages up to the question, and the passages that were retrieved
// for the question. The file is not part of this project. The user gives the path of the file, or puts the
// file into a folder "mtrag" of published data. Open this file to read another format.
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
  std::vector<std::size_t> passages;  ///< passages that were retrieved for the question, in
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

/// Reads a JSON file, with or without gzip compression. Throws Failure with file, place, found and expected
/// text. The function refuses another form and unreasonable sizes. The function also refuses a missing
/// passage, and a passage or turn with two entries. The file has these members:
/// - `documents` with `document_id` and `text`;
/// - `tasks` with `task_id` "CONVERSATION<::>TURN", `input` of `speaker` and `text`, and `contexts` of
///   `document_id`.
Conversations readConversations(const std::filesystem::path& file);

/// Finds the file. `asked` is a file, or a folder with the file. If `asked` is empty, the file is in the
/// folder "mtrag" of one of `published`, in order. Throws Failure that names the missing file and the
/// searched places.
std::filesystem::path findConversations(const std::filesystem::path& asked,
                                        std::span<const std::filesystem::path> published);

}  // namespace spanscope::experiment
