// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the edits that the doctor proposes. Open this file to change how an edit rewrites a request.
#pragma once

#include "engine/doctor/doctor.h"
#include "engine/doctor/logged_request.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::doctor {

/// The tools of each conversation: all that were ever sent, in the order of their first request.
class ConversationTools {
 public:
  void add(std::uint32_t conversation, const LoggedRequest& request);
  /// nullptr: no request of the conversation has tools.
  const std::vector<Tool>* of(std::uint32_t conversation) const;

 private:
  using List = std::shared_ptr<const std::vector<Tool>>;
  std::unordered_map<std::uint32_t, List> m_lists;
  std::unordered_map<std::string, List> m_shared;  ///< by the digest of the tools
};

/// The edits of a report.
enum class EditKind : std::uint8_t {
  Usual,      ///< earlier messages stay as they were sent; changed values are at the end
  Documents,  ///< also, shared documents keep their order
};

/// Whether edits of this kind can change a request. Without such a request, Documents edits like Usual.
bool isEdited(const RequestReport& request, EditKind kind);

/// Edits the requests of a log one after the other. Keeps a request as long as a later one is compared with
/// it.
class LogEditor {
 public:
  /// The report and the tools must outlive this object. `report` has the findings of all requests.
  LogEditor(const LogReport& report, const ConversationTools& tools, EditKind kind);

  /// Edits the next request of the log. Refused requests stay as they are.
  LoggedRequest edited(LoggedRequest request);
  /// Number of requests so far.
  std::uint32_t count() const { return m_number; }

 private:
  /// A request with its edits, and the new place of each of its messages.
  struct Edited {
    LoggedRequest original;
    LoggedRequest request;
    std::vector<std::size_t> places;
  };
  Edited editedOf(const LoggedRequest& now, const RequestReport& report, const Edited* reference,
                  bool isSame) const;
  static void orderDocuments(const RequestReport& report, const LoggedRequest& now, const Edited& reference,
                             Edited& edited);

  const LogReport& m_report;
  const ConversationTools& m_tools;
  EditKind m_kind;
  std::vector<std::uint32_t> m_lastUse;
  std::unordered_map<std::uint32_t, std::shared_ptr<const Edited>> m_kept;
  std::uint32_t m_number = 0;
};

}  // namespace spanscope::doctor
