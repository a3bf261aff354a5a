// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"
#include "engine/retrieve/augment_documents.h"
#include "engine/retrieve/resolve_augments.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// What went wrong on the way, but let the search go on.
struct SearchRemarks {
  std::vector<Error> skipped;         ///< documents that could not be read
  std::vector<std::string> lostPins;  ///< hashes of pinned fragments that no document has
};

/// Indexes the documents of an augment and searches them; `model` is the one it names. Nothing if it was
/// stopped. Throws Failure, also where none of the documents can be read.
std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const FragmentChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks);

}  // namespace spanscope::retrieve
