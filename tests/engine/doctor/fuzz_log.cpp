// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are a log: requests and problems have valid places, requests are read again from their places,
// and no output has control characters or wrong UTF-8.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/log_reader.h"
#include "engine/doctor/report.h"
#include "engine/doctor/span_query.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const LogReader log({{.name = "log", .path = {}, .text = std::string(data, data + size)}});
  std::vector<LogPlace> places;
  PartCounts counts;
  try {
    log.read(
        [&](LoggedRequest&& request) {
          places.push_back(request.place);
          counts.add(request);
        },
        [](const LogProblem& problem) { require(!problem.found.empty() && isValidUtf8(problem.found)); });
    for (const LogPlace& place : places) {
      const LoggedRequest request = log.again(place);
      queryOf(request, proposeSpans(request, counts));
      templateOf(request, counts, proposeSpans(request, counts));
    }
    const auto tokenizer = makeEstimate();
    const LogReport report = diagnose(log, *tokenizer, {});
    require(report.requests.size() == places.size());
    require(isValidUtf8(jsonReport(report, {})) && isValidUtf8(htmlReport(report, {})));
    for (const char c : csvReport(report))
      require(static_cast<unsigned char>(c) >= ' ' || c == '\r' || c == '\n');
  } catch (const Failure& failure) {
    require(isValidUtf8(failure.what()));
  }
  return 0;
}
