// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/target_warnings.h"

#include "engine/query/diagnostic.h"

#include <ostream>

namespace spanscope::cli {
namespace {

/// "file:line:column: pointer: " of the first place, as diagnostics have it.
std::string placeOf(const exports::TargetRemark& remark, const Outgoing& outgoing) {
  query::Diagnostic diagnostic;
  if (!remark.places.empty()) diagnostic.pointer = remark.places.front();
  if (outgoing.file != nullptr) locate(diagnostic, *outgoing.file);
  return diagnostic.located(outgoing.name);
}

}  // namespace

bool warnOfTarget(const Outgoing& outgoing, const Streams& streams) {
  bool isTaken = true;
  for (const exports::TargetRemark& remark :
       exports::exportRemarks(outgoing.query, outgoing.target, outgoing.settings)) {
    if (remark.effect == exports::Effect::Note) continue;
    const bool isRefused = remark.effect == exports::Effect::Refused;
    if (isRefused) isTaken = false;
    // A form of the whole query is written all the same; what is to be sent is not.
    const bool isError = isRefused && (outgoing.target.isRequest || outgoing.settings.isSentHere);
    streams.err << placeOf(remark, outgoing) << (isError ? "error: " : "warning: ") << remark.text << '\n';
  }
  return isTaken;
}

}  // namespace spanscope::cli
