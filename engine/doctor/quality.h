// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the requests of a log on which a model measures the quality of each way to send the log. A job
// measures these requests (engine/jobs/log_quality.h). Open this file to change the sample.
#pragma once

#include "engine/doctor/doctor.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::doctor {

/// A reuse policy, and the ways whose quality it measures.
struct QualityPolicy {
  std::string policy;             ///< as documents write it
  std::vector<std::string> ways;  ///< Way::key
  bool operator==(const QualityPolicy&) const = default;
};

/// A request of the sample. Secrets are redacted.
struct QualityQuestion {
  std::uint32_t request = 0;  ///< its number in the report
  std::string query;          ///< the prompt of the way, as the canonical JSON of a query
  std::string original{};     ///< the prompt of the log in the same form; empty: the prompt is the same
  bool operator==(const QualityQuestion&) const = default;
};

/// Requests that the same policies measure.
struct QualityGroup {
  std::vector<QualityPolicy> policies;
  std::vector<QualityQuestion> questions;
  bool operator==(const QualityGroup&) const = default;
};

/// Chooses at most `most` requests for each group, evenly spread over the log. The requests for spans have
/// parts that become spans by default. The requests for edits are those that the edits change. Groups without
/// such requests are left out. Reads the log three times. Returns early after a stop request. Throws Failure
/// if the log cannot be read.
std::vector<QualityGroup> qualitySample(const LogReader& log, const LogReport& report, std::size_t most,
                                        const std::stop_token& stop = {});

/// Returns a text that is equal only for reports about the same requests.
std::string identityOf(const LogReport& report);

}  // namespace spanscope::doctor
