// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/layouts.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// Reads a text that queries may have as a user's message under plus. Throws Failure if the text cannot be
/// used.
using WarmText = std::function<std::string()>;

/// The result of warming one document.
struct WarmedDocument {
  std::size_t document = 0;       ///< index
  std::int64_t tokens = 0;        ///< that queries will reuse
  std::int64_t storedTokens = 0;  ///< that were cached before
  double seconds = 0;
  std::string problem{};  ///< why the document could not be warmed; empty otherwise
};

/// Computes documents before any question, in the session of the settings, and stores their blocks. Queries
/// with such a document then reuse these blocks. An error in one document does not affect the others.
class WarmJob final : public Job {
 public:
  WarmJob(RunSettings settings, std::vector<WarmText> documents);

  Begun begin(JobContext& place, const std::stop_token& stop) override;

  /// The results so far, in the order of the documents.
  std::vector<WarmedDocument> warmed() const { return m_warmed.get(); }

 private:
  std::optional<WarmedDocument> warm(std::size_t index, JobContext& place, const std::stop_token& stop) const;

  RunSettings m_settings;
  std::vector<WarmText> m_documents;
  Published<std::vector<WarmedDocument>> m_warmed;
};

}  // namespace spanscope::workbench
