// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/conversations.h"

#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/experiment/gzip_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::experiment {
namespace {

namespace fs = std::filesystem;
using checkpoint::JsonPlace;

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20U;
constexpr std::size_t kMostPassages = 1'000'000;
constexpr std::size_t kMostTasks = 100'000;
constexpr std::size_t kMostOfTurn = 10'000;
constexpr std::int32_t kMostTurns = 10'000;
constexpr const char* kWhat = "conversations with their passages";
constexpr std::string_view kParting = "<::>";

using PassageIndex = std::map<std::string, std::size_t, std::less<>>;

PassageIndex readPassages(const JsonPlace& documents, std::vector<Passage>& passages) {
  PassageIndex index;
  const std::size_t count = documents.requireList(kMostPassages);
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace one = documents.element(i);
    one.requireObject();
    const JsonPlace id = one.field("document_id");
    if (!index.emplace(id.requireText(), i).second)
      throw id.fail(checkpoint::inQuotes(id.requireText()) + " twice", "every passage once");
    passages.push_back({.id = id.requireText(), .text = one.field("text").requireText()});
  }
  return index;
}

/// "CONVERSATION<::>TURN"
std::pair<std::string, std::int32_t> readName(const JsonPlace& place) {
  const std::string_view name = place.requireText();
  const std::size_t parting = name.rfind(kParting);
  std::int32_t turn = 0;
  if (parting != std::string_view::npos) {
    const std::string_view number = name.substr(parting + kParting.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), turn);
    if (error != std::errc() || end != number.data() + number.size()) turn = 0;
  }
  if (parting == 0 || turn < 1 || turn > kMostTurns)
    throw place.fail(
        checkpoint::inQuotes(name),
        /*id:conversation-number-turn*/ "a conversation and the number of its turn: \"name<::>1\"");
  return {std::string(name.substr(0, parting)), turn};
}

ConversationTurn readTurn(const JsonPlace& task, const PassageIndex& passages) {
  ConversationTurn turn;
  const JsonPlace input = task.field("input");
  const std::size_t said = input.requireList(kMostOfTurn);
  for (std::size_t i = 0; i < said; ++i) {
    const JsonPlace one = input.element(i);
    one.requireObject();
    const JsonPlace speaker = one.field("speaker");
    const bool byUser = speaker.requireText() == "user";
    if (!byUser && speaker.requireText() != "agent")
      throw speaker.fail(checkpoint::inQuotes(speaker.requireText()), R"("user" or "agent")");
    turn.said.push_back({.byUser = byUser, .text = one.field("text").requireText()});
  }
  if (turn.said.empty() || !turn.said.back().byUser)
    throw input.fail(turn.said.empty() ? "no messages" : "an answer at the end",
                     /*id:question-end*/ "a question at the end");
  const JsonPlace contexts = task.field("contexts");
  if (contexts.isNull()) return turn;
  const std::size_t found = contexts.requireList(kMostOfTurn);
  for (std::size_t i = 0; i < found; ++i) {
    const JsonPlace one = contexts.element(i);
    one.requireObject();
    const JsonPlace id = one.field("document_id");
    const auto passage = passages.find(id.requireText());
    if (passage == passages.end())
      throw id.fail(checkpoint::inQuotes(id.requireText()), "the id of a passage in /documents");
    turn.passages.push_back(passage->second);
  }
  return turn;
}

Conversations readRoot(const JsonPlace& root) {
  Conversations read;
  const PassageIndex passages = readPassages(root.field("documents"), read.passages);
  const JsonPlace tasks = root.field("tasks");
  const std::size_t count = tasks.requireList(kMostTasks);
  std::map<std::string, std::size_t> places;
  std::vector<std::map<std::int32_t, ConversationTurn>> turns;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace task = tasks.element(i);
    task.requireObject();
    const JsonPlace name = task.field("task_id");
    const auto [id, number] = readName(name);
    const auto [place, isFirst] = places.emplace(id, turns.size());
    if (isFirst) {
      turns.emplace_back();
      read.conversations.push_back({.id = id, .turns = {}});
    }
    if (!turns[place->second].emplace(number, readTurn(task, passages)).second)
      throw name.fail(checkpoint::inQuotes(name.requireText()) + " twice", "every turn once");
  }
  if (turns.empty()) throw tasks.fail("no tasks", "at least one task");
  for (std::size_t i = 0; i < turns.size(); ++i) {
    for (auto& [number, turn] : turns[i]) read.conversations[i].turns.push_back(std::move(turn));
  }
  return read;
}

bool isOfConversations(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

/// Returns the first file by name in a folder, or nothing if there is none.
std::optional<fs::path> fileIn(const fs::path& folder) {
  std::error_code error;
  std::optional<fs::path> first;
  // A range-based loop would throw at an error of a step.
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    if (isOfConversations(each->path()) && (!first || each->path() < *first)) first = each->path();
  }
  return first;
}

}  // namespace

Conversations readConversations(const fs::path& file) {
  const std::string text =
      unpacked(checkpoint::readFileBytes(file, kMostBytes, kWhat), file.string(), kMostUnpacked);
  return checkpoint::readJsonText(text, file.string(), kWhat, readRoot,
                                  {.maxBytes = kMostUnpacked, .maxDepth = 64, .namesOnce = false});
}

fs::path findConversations(const fs::path& asked, std::span<const fs::path> published) {
  constexpr const char* kWanted =
      "the conversations of MTRAG (IBM/mt-rag-benchmark: "
      "reference_subset_with_human_evaluations.json, plain or compressed with gzip)";
  std::error_code error;
  if (!asked.empty()) {
    if (fs::is_directory(asked, error)) {
      if (std::optional<fs::path> file = fileIn(asked)) return *file;
      throw Failure(
          {asked.string(), {}, "a folder without a file that ends with .json or .json.gz", kWanted});
    }
    if (fs::exists(asked, error)) return asked;
    throw Failure({asked.string(), {}, /*id:no-such-file*/ "no such file or folder", kWanted});
  }
  std::string looked;
  for (const fs::path& folder : published) {
    const fs::path place = folder / "mtrag";
    if (std::optional<fs::path> file = fileIn(place)) return *file;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw Failure({.file = "folder",
                 .place = {},
                 .found = looked.empty() ? "no folder of conversations" : "no conversations in " + looked,
                 .expected = kWanted + std::string(". Give the folder of the conversations")});
}

}  // namespace spanscope::experiment
