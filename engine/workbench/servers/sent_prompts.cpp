// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/sent_prompts.h"

#include "engine/base/error.h"
#include "engine/base/output_file.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

namespace spanscope::workbench {
namespace {

using Json = nlohmann::json;

constexpr int kForm = 1;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28U;

Failure otherForm(const std::filesystem::path& file, std::string place, std::string found) {
  return Failure({file.string(), std::move(place), std::move(found),
                  /*id:sent-prompts-form*/ "a file that spanq remote run --sent has written"});
}

/// Returns the whole file. Null: there is no file.
Json fileJson(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || bytes > kMostBytes) throw otherForm(file, {}, "a file that cannot be read");
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("sent_prompts", Json()) != Json(kForm) || !json.contains("servers") ||
      !json["servers"].is_object())
    throw otherForm(file, {}, "other content");
  return json;
}

/// Reads the value of one server.
class HistoryReader {
 public:
  HistoryReader(const std::filesystem::path& file, std::string place)
      : m_file(file), m_place(std::move(place)) {}

  ServerHistory history(const Json& json) const {
    ServerHistory history;
    for (const Json& entry : list(json, "prompts")) {
      PastPrompt past{.prompt = tokens(entry, "prompt"), .answer = tokens(entry, "answer")};
      require(!past.prompt.empty());
      past.isBeside = entry.contains("concurrent") && entry["concurrent"] == Json(true);
      history.prompts.push_back(std::move(past));
    }
    for (const Json& entry : list(json, "counts")) {
      require(entry.is_array() && entry.size() == 2 && entry[0].is_number_unsigned() &&
              entry[1].is_number_unsigned() &&
              entry[1].get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max());
      history.counts.emplace_back(entry[0].get<std::uint64_t>(), entry[1].get<std::uint32_t>());
    }
    return history;
  }

 private:
  void require(bool isSound) const {
    if (!isSound) throw otherForm(m_file, m_place, "other content");
  }
  const Json& list(const Json& json, const char* name) const {
    require(json.is_object() && json.contains(name) && json[name].is_array());
    return json[name];
  }
  std::vector<TokenId> tokens(const Json& entry, const char* name) const {
    std::vector<TokenId> ids;
    for (const Json& id : list(entry, name)) {
      require(id.is_number_unsigned() &&
              id.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<TokenId>::max()});
      ids.push_back(id.get<TokenId>());
    }
    return ids;
  }

  const std::filesystem::path& m_file;
  std::string m_place;
};

Json historyJson(const ServerHistory& history) {
  std::size_t tokens = 0;
  auto first = history.prompts.end();
  while (first != history.prompts.begin()) {
    const PastPrompt& before = *std::prev(first);
    tokens += before.prompt.size() + before.answer.size();
    if (tokens > SentPromptsFile::kMostTokens) break;
    --first;
  }
  Json json{{"prompts", Json::array()}, {"counts", Json::array()}};
  for (auto past = first; past != history.prompts.end(); ++past) {
    Json entry{{"prompt", past->prompt}, {"answer", past->answer}};
    if (past->isBeside) entry["concurrent"] = true;
    json["prompts"].push_back(std::move(entry));
  }
  for (const auto& [content, count] : history.counts) json["counts"].push_back({content, count});
  return json;
}

}  // namespace

ServerHistory SentPromptsFile::read(const std::string& server) const {
  const Json json = fileJson(m_file);
  if (json.is_null() || !json["servers"].contains(server)) return {};
  return HistoryReader(m_file, "/servers/" + server).history(json["servers"][server]);
}

void SentPromptsFile::write(const std::string& server, const ServerHistory& history) const {
  Json json = fileJson(m_file);
  if (json.is_null()) json = {{"sent_prompts", kForm}, {"servers", Json::object()}};
  json["servers"][server] = historyJson(history);
  if (const std::optional<Error> error = writeFile(m_file, json.dump() + "\n")) throw Failure(*error);
}

}  // namespace spanscope::workbench
