// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/protocol.h"

#include "engine/export/export_target.h"
#include "engine/remote/chat/chat_protocol.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/remote/spnl/spnl_protocol.h"

#include <algorithm>
#include <array>

namespace spanscope::remote {
namespace {

constexpr std::array<const Protocol*, 3> kProtocols{&kSpnlProtocol, &kChatProtocol, &kCompletionsProtocol};

}  // namespace

std::span<const Protocol* const> protocols() {
  return kProtocols;
}

const Protocol& chatProtocol() {
  return kChatProtocol;
}

const Protocol* findProtocol(std::string_view name) {
  const auto found = std::find_if(kProtocols.begin(), kProtocols.end(),
                                  [name](const Protocol* protocol) { return protocol->name == name; });
  return found == kProtocols.end() ? nullptr : *found;
}

const Protocol* protocolFor(const ServerFacts& facts) {
  const auto found = std::find_if(kProtocols.begin(), kProtocols.end(),
                                  [&facts](const Protocol* protocol) { return protocol->isTakenBy(facts); });
  return found == kProtocols.end() ? nullptr : *found;
}

const Protocol* protocolFor(const ServerFacts& facts, const query::Node& query,
                            std::optional<std::uint64_t> seed) {
  for (const Protocol* protocol : kProtocols) {
    if (!protocol->isTakenBy(facts)) continue;
    const auto remarks = exports::exportRemarks(query, *exports::findExportTarget(protocol->form),
                                                {.seed = seed, .isSentHere = true});
    const bool isRefused = std::any_of(remarks.begin(), remarks.end(), [](const auto& remark) {
      return remark.effect == exports::Effect::Refused;
    });
    if (!isRefused) return protocol;
  }
  return protocolFor(facts);
}

std::string protocolNames() {
  std::string names;
  for (const Protocol* protocol : kProtocols)
    names += (names.empty() ? "" : ", ") + std::string(protocol->name);
  return names;
}

}  // namespace spanscope::remote
