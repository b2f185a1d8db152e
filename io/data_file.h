#pragma once
// Inside io/ only: the data file of a model that is being written.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/files/output_file.h"
#include "io/tensors.h"

namespace regraft::io {

/// Tensors one after the other, aligned so that they can be mapped. Named after its content: other
/// content is another file, and equal content is the file that is there. Until this goes the file
/// is locked against remove_old_data of other processes.
class DataFile {
 public:
  /// Beside the model's file. Nothing is made before the first tensor.
  explicit DataFile(const std::string& model_file);
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile();

  Status append(onnx::TensorProto& tensor, const std::vector<std::byte>& bytes);
  /// Copies a range of another file, whose holes stay holes; the same range twice is copied once.
  Status append(onnx::TensorProto& tensor, const Place& place);
  /// Nothing is appended any more: the tensors learn the file's name.
  Status finish();
  Status sync();
  /// REQUIRES: finish().
  Status commit();
  /// In the model's folder; empty: there is no data. REQUIRES: finish().
  const std::string& name() const { return name_; }

 private:
  bool is_open() const { return file_.descriptor() >= 0; }
  Status write(std::string_view bytes);
  Status align(int64_t length);
  Status skip(int64_t length);
  Status copy(const Place& place);
  Status copy(const Place& place, int fd);
  void refer(onnx::TensorProto& tensor, int64_t offset, int64_t length);
  bool adopt(const std::string& path);

  std::string model_file_, name_;
  OutputFile file_;
  int adopted_ = -1;  ///< the file with that content that was there before
  int64_t size_ = 0;
  uint64_t digest_ = 0;
  std::vector<onnx::TensorProto*> tensors_;
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> copied_;
};

/// Removes the data files that a model's file had before, but for `name`, those in `keep`
/// (canonical paths) and those that another process is about to name.
void remove_old_data(const std::string& model_file, const std::string& name,
                     const std::set<std::string>& keep);

}  // namespace regraft::io
