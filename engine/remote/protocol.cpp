// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/protocol.h"

#include "engine/export/export_target.h"

#include <algorithm>
#include <array>

namespace spanscope::remote {

extern const Protocol kSpnlProtocol;
extern const Protocol kChatProtocol;
extern const Protocol kCompletionsProtocol;
extern const Protocol kMessagesProtocol;

namespace {

constexpr std::array<const Protocol*, 4> kProtocols{&kSpnlProtocol, &kChatProtocol, &kCompletionsProtocol,
                                                    &kMessagesProtocol};

bool canCarry(const Protocol& protocol, const query::Node& query, std::optional<std::uint64_t> seed) {
  const auto remarks = exports::exportRemarks(query, *exports::findExportTarget(protocol.form),
                                              {.seed = seed, .isSentHere = true});
  return std::ranges::none_of(remarks,
                              [](const auto& remark) { return remark.effect == exports::Effect::Refused; });
}

}  // namespace

std::span<const Protocol* const> protocols() {
  return kProtocols;
}

const Protocol& chatProtocol() {
  return kChatProtocol;
}

HttpAccess accessIn(const Protocol& protocol, HttpAccess access, std::optional<ServerKind> kind) {
  access.keyLines = {protocol.keyLine};
  const bool isKnown = kind && *kind != ServerKind::OpenAi;
  if (isKnown && access.keyLines.front() != kBearerLine) access.keyLines.emplace_back(kBearerLine);
  access.headLines.clear();
  if (protocol.headLine != nullptr) access.headLines.emplace_back(protocol.headLine);
  return access;
}

const Protocol* findProtocol(std::string_view name) {
  const auto found = std::ranges::find(kProtocols, name, &Protocol::name);
  return found == kProtocols.end() ? nullptr : *found;
}

const Protocol* protocolFor(const ServerFacts& facts) {
  const auto found = std::ranges::find_if(
      kProtocols, [&facts](const Protocol* protocol) { return protocol->isTakenBy(facts); });
  return found == kProtocols.end() ? nullptr : *found;
}

const Protocol* protocolFor(const ServerFacts& facts, const query::Node& query,
                            std::optional<std::uint64_t> seed) {
  for (const Protocol* protocol : kProtocols) {
    if (protocol->isTakenBy(facts) && canCarry(*protocol, query, seed)) return protocol;
  }
  return protocolFor(facts);
}

const Protocol* protocolAfter(const Protocol& first, const ServerFacts& facts, const query::Node& query,
                              std::optional<std::uint64_t> seed) {
  if (!first.takesCalls) return nullptr;
  for (const Protocol* protocol : kProtocols) {
    const bool isOfMessages = !protocol->takesCalls && !protocol->needsPrompt;
    if (isOfMessages && protocol->isTakenBy(facts) && canCarry(*protocol, query, seed)) return protocol;
  }
  return nullptr;
}

std::string protocolNames() {
  std::string names;
  for (const Protocol* protocol : kProtocols)
    names += (names.empty() ? "" : ", ") + std::string(protocol->name);
  return names;
}

std::string protocolList() {
  std::string list;
  for (const Protocol* protocol : kProtocols)
    list += (list.empty() ? "" : ", ") + std::string(protocol->name) + " (" + protocol->title + ")";
  return list;
}

}  // namespace spanscope::remote
