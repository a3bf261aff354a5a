// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"
#include "engine/retrieve/augment_documents.h"
#include "engine/retrieve/resolve_augments.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Problems that did not end a search.
struct SearchRemarks {
  std::vector<Error> skipped;         ///< documents that could not be read
  std::vector<Error> unread;          ///< pages without text
  std::vector<std::string> lostPins;  ///< hashes of pinned fragments that are in no document
};

/// Indexes the documents of an augment and searches them. `model` is the model that the augment names.
/// Nothing if it was stopped. Throws Failure, also if no document can be read.
std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const FragmentChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks);

}  // namespace spanscope::retrieve
