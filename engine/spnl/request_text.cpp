// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/request_text.h"

#include "engine/query/node_parts.h"
#include "engine/spnl/backends.h"

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
  constexpr std::string_view kDigits = "0123456789abcdef";
  // Single quotes, because JSON is full of double quotes.
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
          literal += kDigits[byte >> 4U];
          literal += kDigits[byte & 15U];
        } else {
          literal += c;
        }
    }
  }
  literal += '\'';
  return literal;
}

std::string curlLine(std::string_view body, std::string_view endpoint, bool stream) {
  std::string url(endpoint);
  url += endpoint.find('?') == std::string_view::npos ? '?' : '&';
  url += stream ? "stream=true" : "stream=false";
  std::string line = "curl --fail-with-body --no-buffer";
  // curl expands these in addresses.
  if (endpoint.find_first_of("[]{}") != std::string_view::npos) line += " --globoff";
  line += " --request POST " + shellQuoted(url) + " \\\n  --header 'Content-Type: text/plain' \\\n";
  if (body.size() <= kMaxCurlWord) {
    line += "  --data-binary " + shellQuoted(body) + "\n";
  } else {
    // The JSON is one line that begins with a brace, so no line of it is the end mark.
    line += "  --data-binary @- <<'END_OF_QUERY'\n";
    line += body;
    line += "\nEND_OF_QUERY\n";
  }
  return line;
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
        "    stream=True,\n"
        "    timeout=600,\n"
        ") as response:\n"
        "    response.raise_for_status()\n"
        "    for line in response.iter_lines():\n"
        "        if not line.startswith(b'data: ') or line == b'data: [DONE]':\n"
        "            continue\n"
        "        for choice in json.loads(line[len(b'data: '):])['choices']:\n"
        "            text = choice.get('text') or choice.get('delta', {}).get('content') or ''\n"
        "            print(text, end='', flush=True)\n"
        "print()\n";
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
  if (query::mostReplies(request) != query::Arity::kMany) return false;
  const query::GenerateSettings* settings = query::settingsOf(request);
  const auto* tokens = std::get_if<std::int32_t>(&settings->maxTokens);
  return tokens != nullptr && *tokens == 1;
}

}  // namespace spanscope::spnl
