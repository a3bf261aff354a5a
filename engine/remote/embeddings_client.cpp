// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/embeddings_client.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::remote {

std::string endpointOf(const EmbeddingsServer& server) {
  std::string url = server.url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/embeddings";
}

EmbeddingsClient::EmbeddingsClient(EmbeddingsServer server)
    : m_server(std::move(server)), m_client(std::make_unique<HttpClient>()) {}
EmbeddingsClient::~EmbeddingsClient() = default;

std::string EmbeddingsClient::fingerprint() const {
  return "server;url=" + endpointOf(m_server) + ";model=" + m_server.model;
}

std::vector<retrieve::EmbeddingVector> EmbeddingsClient::embed(std::span<const std::string> texts,
                                                               std::stop_token stop) {
  using Json = nlohmann::json;
  if (texts.empty() || stop.stop_requested()) return {};
  const std::string url = endpointOf(m_server);
  const auto refuse = [&](std::string place, std::string found, std::string expected) {
    throw Failure({url, std::move(place), std::move(found), std::move(expected)});
  };
  const auto address = readServerAddress(m_server.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"server of embeddings", {}, problem->found, problem->expected});
  if (m_server.model.empty()) refuse({}, "no model name", "the server's embedding model");
  Json request;
  request["model"] = m_server.model;
  request["input"] = std::vector<std::string>(texts.begin(), texts.end());
  request["encoding_format"] = "float";

  const HttpReply reply = m_client->send({.url = url, .body = compactJson(request)},
                                         {.key = m_server.key,
                                          .certificateFile = {},
                                          .limits = {.connect = m_server.connectTimeout,
                                                     .firstByte = m_server.timeout,
                                                     .silence = m_server.timeout,
                                                     .whole = m_server.timeout,
                                                     .bytes = kMaxReplyBytes}},
                                         stop);
  if (reply.isStopped || stop.stop_requested()) return {};
  if (reply.status != 200) {
    refuse("reply", statusSentence(reply.status, shownReply(reply.body)), {});
  }
  // Errors show the fault in the answer. If a server repeats the key, an error must not show the key.
  const bool hasKey = !m_server.key.empty() && reply.body.find(m_server.key) != std::string::npos;
  return readEmbeddings(hasKey ? withoutKey(reply.body, m_server.key) : reply.body, texts.size(), url);
}

namespace {

using Json = nlohmann::json;

/// Max number of values in an answer for each text, without the vector.
constexpr std::size_t kMaxOtherValues = 100;
constexpr int kMaxDepth = 16;
constexpr const char* kReply = "reply";
constexpr const char* kFloat = "a number that a float holds";

std::string inQuotes(std::string_view text) {
  return "\"" + query::cutText(toValidUtf8(text), kReplyCharacters) + "\"";
}

/// Finds the place where a text stops being JSON, and the reason.
class SyntaxFinder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& problem) override {
    byte = position;
    if (dynamic_cast<const Json::out_of_range*>(&problem) != nullptr) number = token;
    return false;
  }

  std::size_t byte = 0;               ///< counted from 1
  std::optional<std::string> number;  ///< a number that is too large for a double
};

class ReplyReader {
 public:
  ReplyReader(const std::string& url, std::size_t count) : m_url(url), m_count(count) {}

  std::vector<retrieve::EmbeddingVector> read(std::string_view body) const {
    const Json reply = parse(body);
    if (!reply.is_object() || !reply.contains("data") || !reply["data"].is_array())
      refuse(kReply, shownReply(body), /*id:object-list-data*/ "an object with a list \"data\"");
    const Json& data = reply["data"];
    if (data.size() != m_count)
      refuse("/data", counted(data.size(), "entry", "entries"),
             std::to_string(m_count) + ", one for each text");
    std::vector<retrieve::EmbeddingVector> vectors(m_count);
    std::optional<std::size_t> length;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::string place = "/data/" + std::to_string(i);
      const Json& entry = data[i];
      if (!entry.is_object() || !entry.contains("embedding") || !entry["embedding"].is_array())
        refuse(place, textOf(entry), "an object with a list \"embedding\"");
      if (entry.contains("index") != data[0].contains("index"))
        refuse(place, entry.contains("index") ? "an index" : "no index",
               "an index in every entry or in no entry");
      const std::size_t index = entry.contains("index") ? indexOf(entry["index"], place + "/index") : i;
      if (!vectors[index].empty())
        refuse(place + "/index", std::to_string(index) + " again", "each index once");
      vectors[index] = vectorOf(entry["embedding"], place + "/embedding");
      if (!length) length = vectors[index].size();
      if (vectors[index].size() != *length)
        refuse(place + "/embedding", counted(vectors[index].size(), "number"),
               /*id:many-first*/ "as many numbers as in the first vector");
    }
    return vectors;
  }

 private:
  /// Parses the answer. The number and depth of values are limited during the parse. Each value takes more
  /// memory than one or two bytes of text.
  Json parse(std::string_view body) const {
    // The parser treats a NUL as the end and would ignore the text after the NUL.
    if (const std::size_t nul = body.find('\0'); nul != std::string_view::npos)
      refuse("byte " + std::to_string(nul + 1), "a NUL", "JSON");
    const std::size_t most = m_count * (kMaxDimensions + kMaxOtherValues);
    std::size_t values = 0;
    const auto watch = [&](int depth, Json::parse_event_t, const Json&) {
      if (depth > kMaxDepth)
        refuse(kReply,
               /*id:lists-within-lists*/ "nested lists, deeper than " + std::to_string(kMaxDepth), "vectors");
      if (++values > most) refuse(kReply, "more than " + std::to_string(most) + " values", "fewer values");
      return true;
    };
    try {
      return Json::parse(body, watch);
    } catch (const Json::exception&) {
      refuseSyntax(body);
    }
  }

  [[noreturn]] void refuseSyntax(std::string_view body) const {
    SyntaxFinder finder;
    Json::sax_parse(body, &finder);
    const std::string place = "byte " + std::to_string(finder.byte);
    if (finder.number) refuse(place, query::cutText(*finder.number, kReplyCharacters), kFloat);
    refuse(place, inQuotes(around(body, finder.byte)), "JSON");
  }

  /// Returns the text at a byte, counted from 1, and some text before this byte.
  static std::string_view around(std::string_view text, std::size_t byte) {
    constexpr std::size_t kBefore = 20;
    std::size_t begin = std::min(text.size(), byte > kBefore ? byte - kBefore : 0);
    while (begin < text.size() && isUtf8Continuation(text[begin])) ++begin;
    return text.substr(begin, 2 * kBefore);
  }

  /// Returns a value in the form for messages.
  static std::string textOf(const Json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    return query::cutText(value.dump(), kReplyCharacters);
  }

  [[noreturn]] void refuse(std::string place, std::string found, std::string expected) const {
    throw Failure({m_url, std::move(place), std::move(found), std::move(expected)});
  }

  std::size_t indexOf(const Json& index, const std::string& place) const {
    if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= m_count)
      refuse(place, textOf(index), "0 to " + std::to_string(m_count - 1));
    return index.get<std::size_t>();
  }

  retrieve::EmbeddingVector vectorOf(const Json& numbers, const std::string& place) const {
    if (numbers.empty() || numbers.size() > kMaxDimensions)
      refuse(place, std::to_string(numbers.size()) + " numbers", "1 to " + std::to_string(kMaxDimensions));
    retrieve::EmbeddingVector vector;
    vector.reserve(numbers.size());
    for (const Json& number : numbers) {
      const std::optional<float> value = floatOf(number);
      if (!value) refuse(place, textOf(number), kFloat);
      vector.push_back(*value);
    }
    return vector;
  }

  static std::optional<float> floatOf(const Json& number) {
    if (!number.is_number()) return std::nullopt;
    constexpr double kLargest = std::numeric_limits<float>::max();
    // The shortest digits of the largest float give a slightly larger number.
    constexpr double kRoundedToIt = 0x1.fffffefffffffp127;
    const auto value = number.get<double>();
    if (!(std::abs(value) <= kRoundedToIt)) return std::nullopt;
    return static_cast<float>(std::clamp(value, -kLargest, kLargest));
  }

  const std::string& m_url;
  std::size_t m_count;
};

}  // namespace

std::vector<retrieve::EmbeddingVector> readEmbeddings(std::string_view body, std::size_t count,
                                                      const std::string& url) {
  return ReplyReader(url, count).read(body);
}

}  // namespace spanscope::remote
