// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/request_text.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace spanscope::spnl {

std::string shellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  quoted += '\'';
  return quoted;
}

std::string pythonLiteral(std::string_view text) {
  // Uses single quotes, because JSON has many double quotes.
  std::string literal = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\\':
        literal += "\\\\";
        break;
      case '\'':
        literal += "\\'";
        break;
      case '\n':
        literal += "\\n";
        break;
      case '\r':
        literal += "\\r";
        break;
      case '\t':
        literal += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          literal += "\\x";
          appendHex(literal, byte, 2);
        } else {
          literal += c;
        }
    }
  }
  literal += '\'';
  return literal;
}

std::string curlCommand(std::string_view body, std::string_view url, const std::vector<std::string>& headers,
                        std::string_view endMark) {
  std::string line = "curl --fail-with-body --no-buffer";
  // curl expands these characters in addresses.
  if (url.find_first_of("[]{}") != std::string_view::npos) line += " --globoff";
  line += " --request POST " + shellQuoted(url) + " \\\n";
  for (const std::string& header : headers) line += "  --header " + header + " \\\n";
  if (body.size() <= kMaxCurlWord) return line + "  --data-binary " + shellQuoted(body) + "\n";
  line += "  --data-binary @- <<'" + std::string(endMark) + "'\n";
  line += body;
  line += "\n" + std::string(endMark) + "\n";
  return line;
}

std::string curlLine(std::string_view body, std::string_view endpoint, bool stream) {
  std::string url(endpoint);
  url += endpoint.find('?') == std::string_view::npos ? '?' : '&';
  url += stream ? "stream=true" : "stream=false";
  // The JSON is one line that begins with a brace, so no line of the JSON is the end mark.
  return curlCommand(body, url, {"'Content-Type: text/plain'"}, "END_OF_QUERY");
}

std::string pythonProgram(std::string_view body, std::string_view endpoint, bool stream) {
  std::string program;
  program += stream ? "import json\n\nimport requests\n\n" : "import requests\n\n";
  program += "query = " + pythonLiteral(body) + "\n\n";
  program += stream ? "with requests.post(\n" : "response = requests.post(\n";
  program += "    " + pythonLiteral(endpoint) + ",\n";
  program += std::string("    params={'stream': '") + (stream ? "true" : "false") + "'},\n";
  program += "    headers={'Content-Type': 'text/plain'},\n";
  program += "    data=query.encode('utf-8'),\n";
  if (stream) {
    program +=
        R"(    stream=True,
    timeout=600,
) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if not line.startswith(b'data: ') or line == b'data: [DONE]':
            continue
        for choice in json.loads(line[len(b'data: '):])['choices']:
            text = choice.get('text') or choice.get('delta', {}).get('content') or ''
            print(text, end='', flush=True)
print()
)";
  } else {
    program +=
        "    timeout=600,\n"
        ")\n"
        "response.raise_for_status()\n"
        "for choice in response.json()['choices']:\n"
        "    print(choice['text'] if 'text' in choice else choice['message']['content'])\n";
  }
  return program;
}

query::Node requestFor(const query::Node& query) {
  query::Node request = query;
  if (const auto* generate = query.as<query::Generate>()) {
    request = query::Node{query::Repeat{.count = std::uint8_t{1}, .generate = *generate}};
  }
  changeSettings(request, [](query::GenerateSettings& settings) {
    if (providerOf(settings.model) == spnl::kSpanProvider)
      settings.model = std::string(nameWithoutProvider(settings.model));
  });
  return request;
}

bool wantsOneToken(const query::Node& request) {
  if (query::mostAnswers(request) != query::Arity::kMany) return false;
  const query::GenerateSettings* settings = query::settingsOf(request);
  const auto* tokens = std::get_if<std::int32_t>(&settings->maxTokens);
  return tokens != nullptr && *tokens == 1;
}

namespace {

// The providers without a bulk form, as recorded from the reference. The last name of each list is for the
// tests of the reference.
constexpr std::array<std::string_view, 4> kWithoutBulkRepeat = {"spnl/", "ollama/", "gemini/",
                                                                "disable_bulk_repeat/"};
constexpr std::array<std::string_view, 3> kWithoutBulkMap = {"ollama/", "gemini/", "disable_bulk_map/"};

}  // namespace

bool supportsSpans(std::string_view model) {
  return model.starts_with("spnl/");
}

bool supportsBulkRepeat(std::string_view model) {
  return std::ranges::none_of(kWithoutBulkRepeat,
                              [&](std::string_view provider) { return model.starts_with(provider); });
}

bool supportsBulkMap(std::string_view model) {
  return std::ranges::none_of(kWithoutBulkMap,
                              [&](std::string_view provider) { return model.starts_with(provider); });
}

namespace {

using query::Generate;
using query::Join;
using query::Message;
using query::Node;

constexpr const char* kParameter = "a parameter in this call has no value";

bool isPrompt(const Node& node) {
  if (node.as<Message>() != nullptr) return true;
  const auto* join = node.as<Join>();
  return join != nullptr && std::ranges::all_of(join->children, isPrompt);
}

/// Returns the reason why a prompt cannot be sent, in words, or nothing.
std::string reasonOf(const Node& node) {
  switch (query::infoOf(node).gives) {
    case query::Gives::Answer:
      return /*id:call-prompt-holds-reply*/ "the prompt contains an answer that is not known yet";
    case query::Gives::Resolved:
      return std::string("the prompt contains an operator \"") + query::operatorName(node) +
             "\", which is resolved before a query is sent";
    case query::Gives::Nothing:
    case query::Gives::Text:
      return {};
    case query::Gives::Children:
      break;
  }
  std::string found;
  query::forEachChild(node, [&](const Node& child, const std::string& /*step*/) {
    if (found.empty()) found = reasonOf(child);
  });
  return found;
}

bool isParameter(const query::GenerateSettings& settings) {
  return std::holds_alternative<query::Parameter>(settings.maxTokens) ||
         std::holds_alternative<query::Parameter>(settings.temperature);
}

/// Returns the prompt without nodes that give no tokens; nothing if no node is left.
std::optional<Node> cleaned(const Node& node) {
  if (const auto* message = node.as<Message>()) {
    return message->text.empty() ? std::nullopt : std::optional<Node>(node);
  }
  const auto* join = node.as<Join>();
  if (join == nullptr) return std::nullopt;
  Join result{join->kind, {}};
  for (const Node& child : join->children) {
    if (std::optional<Node> kept = cleaned(child)) result.children.push_back(std::move(*kept));
  }
  if (result.children.empty()) return std::nullopt;
  return Node{std::move(result)};
}

Generate cleaned(const Generate& generate) {
  std::optional<Node> input = cleaned(*generate.input);
  if (!input) input = Node{Join{query::JoinKind::Seq, {}}};
  return {generate.settings, std::move(*input)};
}

class Collector {
 public:
  ServerBodies take() { return std::move(m_result); }

  void visit(const Node& node, const NodePath& path) {
    query::forEachChild(node, [&](const Node& child, const std::string& step) { visit(child, path + step); });
    const query::GenerateSettings* settings = query::settingsOf(node);
    if (settings == nullptr) return;
    Node body = node;
    Generate* generate = query::generateOf(body);
    std::string reason = isParameter(*settings) ? kParameter : std::string();
    if (generate != nullptr) {
      if (reason.empty()) reason = reasonOf(*generate->input);
      *generate = cleaned(*generate);
    }
    const query::Times* count = query::countOf(node);
    const bool isKnown = count == nullptr || std::holds_alternative<std::uint8_t>(*count);
    add(path, std::move(body), isKnown ? std::move(reason) : kParameter);
  }

 private:
  void add(const NodePath& path, Node body, std::string reason) {
    if (reason.empty()) {
      m_result.bodies.push_back({path, std::move(body)});
    } else {
      m_result.withheld.push_back({path, std::move(reason)});
    }
  }

  ServerBodies m_result;
};

}  // namespace

bool isServerBody(const query::Node& query) {
  if (query::inputsOf(query) != nullptr) return true;
  const Generate* generate = query::generateOf(query);
  return generate != nullptr && isPrompt(*generate->input);
}

ServerBodies serverBodies(const query::Node& query) {
  Collector collector;
  collector.visit(query, "");
  return collector.take();
}

}  // namespace spanscope::spnl
