// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/query_order.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

QByteArray compact(const QJsonValue& value) {
  return QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
}

/// The value with the elements of each list in ascending order.
QJsonValue withSortedLists(const QJsonValue& value) {
  if (value.isObject()) {
    QJsonObject object = value.toObject();
    for (auto member = object.begin(); member != object.end(); ++member)
      *member = withSortedLists(member.value());
    return object;
  }
  if (!value.isArray()) return value;
  std::vector<std::pair<QByteArray, QJsonValue>> elements;
  for (const QJsonValue& element : value.toArray()) {
    const QJsonValue sorted = withSortedLists(element);
    elements.emplace_back(compact(sorted), sorted);
  }
  std::ranges::sort(elements, {}, &std::pair<QByteArray, QJsonValue>::first);
  QJsonArray list;
  for (const auto& [text, element] : elements) list.append(element);
  return list;
}

}  // namespace

bool isOtherOrder(const std::string& a, const std::string& b) {
  // Such texts have the same characters. This comparison is fast, and most other queries fail it.
  if (a.size() != b.size() || a == b) return false;
  std::array<std::int64_t, 256> counts{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++counts[static_cast<unsigned char>(a[i])];
    --counts[static_cast<unsigned char>(b[i])];
  }
  if (std::ranges::any_of(counts, [](std::int64_t count) { return count != 0; })) return false;
  const auto read = [](const std::string& text) {
    return withSortedLists(QJsonDocument::fromJson(QByteArray::fromStdString(text)).object());
  };
  return read(a) == read(b);
}

}  // namespace spanscope::ui
