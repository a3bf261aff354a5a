// SPDX-License-Identifier: GPL-3.0-or-later
// Parses a GGUF file with its tensors (docs/gguf.md of ggml). The key/values come first, then name, shape,
// type and place of each tensor. The data begins at the next multiple of the alignment. The whole file is
// checked before anything in it is used. The format begins with "GGUF", version, number of tensors and number
// of key/values. Open this file when a GGUF file is refused, or when a key of the file is read wrongly.
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/compute/weight_format/weight_format.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::checkpoint {

// Reads the numbers and texts of the header of a GGUF file. All numbers are little-endian.

class GgufReader {
 public:
  /// `bytes` is the whole file. `file` is the name of the file in errors. Bytes and name must outlive the
  /// reader.
  GgufReader(std::span<const std::byte> bytes, const std::string& file) : m_bytes(bytes), m_file(&file) {}

  /// Returns the number of bytes read so far.
  std::uint64_t position() const { return m_position; }
  std::uint64_t left() const { return m_bytes.size() - m_position; }

  /// Sets the name of the key or tensor that is read next, for errors.
  void setSubject(std::string subject) { m_subject = std::move(subject); }
  Failure fail(std::string found, std::string expected) const;

  /// Reads an unsigned number of `width` bytes, at most 8.
  std::uint64_t integer(std::uint64_t width);
  /// Reads a text of at most `limit` bytes, after its length.
  std::string text(std::uint64_t limit);
  void skip(std::uint64_t bytes);
  /// Throws Failure if fewer than `bytes` bytes are left, or if the header would get absurdly long.
  void requireLeft(std::uint64_t bytes) const;

 private:
  std::span<const std::byte> m_bytes;
  std::uint64_t m_position = 0;
  const std::string* m_file;
  std::string m_subject;
};

/// One value. Integers of every width become 64-bit integers, and floating-point numbers become doubles.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// The beginning of a file.
struct GgufHead {
  std::uint64_t tensors = 0;
  std::uint64_t keys = 0;
};
/// Throws Failure unless a file of version 2 or 3 begins here.
GgufHead readGgufHead(GgufReader& reader);

/// The key/values. The getters name the key in errors. Lists of lists are left out.
class GgufMetadata {
 public:
  /// Reads from the beginning of a file. `file` is the name of the file in errors. Throws Failure.
  static GgufMetadata parse(std::span<const std::byte> bytes, const std::string& file);
  /// Reads the key/values of a file on disk.
  static GgufMetadata read(const std::filesystem::path& path);
  /// Reads the next `keys` key/values.
  static GgufMetadata read(GgufReader& reader, std::uint64_t keys, const std::string& file);

  const std::string& file() const { return m_file; }
  const std::map<std::string, GgufValue>& values() const { return m_values; }

  /// Returns null if there is no such key. Throws Failure if the value has another type.
  const std::string* text(const std::string& key) const { return find<std::string>(key, "a text"); }
  const std::vector<std::string>* texts(const std::string& key) const {
    return find<std::vector<std::string>>(key, "a list of texts");
  }
  const std::vector<std::int64_t>* integers(const std::string& key) const {
    return find<std::vector<std::int64_t>>(key, "a list of whole numbers");
  }
  const std::vector<double>* numbers(const std::string& key) const {
    return find<std::vector<double>>(key, "a list of numbers");
  }
  const std::int64_t* integer(const std::string& key) const {
    return find<std::int64_t>(key, "a whole number");
  }
  const double* number(const std::string& key) const { return find<double>(key, "a number"); }
  const bool* boolean(const std::string& key) const { return find<bool>(key, "true or false"); }

 private:
  template <class T>
  const T* find(const std::string& key, const char* expected) const {
    const auto found = m_values.find(key);
    if (found == m_values.end()) return nullptr;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) failType(key, expected);
    return value;
  }
  [[noreturn]] void failType(const std::string& key, const char* expected) const;

  std::string m_file;
  std::map<std::string, GgufValue> m_values;
};

struct GgufTensor {
  std::vector<std::uint64_t> shape;  ///< innermost first, as in the file; one to four sizes, each at least 1
  std::uint32_t type = 0;            ///< number of the type in the file
  const compute::WeightFormatInfo* format = nullptr;  ///< null for a type that a weight cannot have here
  std::span<const std::byte> data;                    ///< into the parsed bytes; empty if the type is unknown

  std::int64_t elements() const;
  /// Returns "Q4_K", or "type 99".
  std::string typeName() const;
};

struct GgufContents {
  GgufMetadata metadata;
  std::map<std::string, GgufTensor> tensors;
};

/// Parses the whole file image `bytes`, which must outlive the result. `source` is the name of the file in
/// errors. Throws Failure for wrong key/values (see GgufMetadata), and in these cases:
/// - A name occurs twice.
/// - A shape does not fit its type.
/// - A tensor is outside of the file or overlaps another one.
GgufContents parseGguf(std::span<const std::byte> bytes, const std::string& source);

/// A model in one file or in several parts, memory-mapped.
class GgufFile {
 public:
  /// `path` is the file, or the first of its parts ("…-00001-of-00003.gguf"). The other parts must be beside
  /// it. Throws Failure.
  explicit GgufFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return m_path; }
  const GgufMetadata& metadata() const { return m_metadata; }
  struct Located {
    std::string file;
    GgufTensor tensor;
  };
  const std::map<std::string, Located>& tensors() const { return m_tensors; }
  /// See MappedFile.
  void requireWhole() const;
  void requireUnchanged() const;

 private:
  void add(const std::filesystem::path& path, GgufContents contents);

  std::filesystem::path m_path;
  GgufMetadata m_metadata;
  std::vector<MappedFile> m_files;  ///< the tensors point into these files
  std::map<std::string, Located> m_tensors;
};

/// Returns the GGUF files of a directory, ordered by name. If a model has several parts
/// (-00001-of-00003.gguf), the list has only the first part, which contains the metadata.
std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory);

/// Whether a regular file begins like a GGUF file. The name of the file does not matter.
bool isGguf(const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
